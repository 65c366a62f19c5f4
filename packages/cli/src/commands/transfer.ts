import { resolve } from 'node:path';
import type { SyncClient } from '@wts/client';
import type { Call } from '../call.ts';
import { counted } from '../output/counted.ts';
import { ShownProgress, type ProgressForm } from '../output/progress.ts';

/** What `export` and `import` have in common. */

/** `isJsonl` by the option, which not every command has. */
export function progressOf(call: Call, isJsonl = call.options.flag('progressJsonl')): ShownProgress {
  const { io, output } = call;
  const isBar = io.isTty.stderr && !output.look.isAccessible && io.env['TERM'] !== 'dumb';
  let form: ProgressForm = isBar ? 'bar' : 'lines';
  if (output.form === 'ids') form = 'none';
  if (isJsonl) form = 'jsonl';
  const { columns } = io;
  const write = (text: string): void => void io.stderr.write(text);
  return new ShownProgress({ form, columns, write, clock: () => performance.now() });
}

/** A client whose changes have a `clientId` of their own, by which the server knows repeated ones. */
export async function connectorOf({ session }: Call): Promise<(clientId: string) => SyncClient> {
  const [{ SyncClient: Client }, { server, token, fetch }] = await Promise.all([import('@wts/client'), session()]);
  return (clientId) => new Client({ baseUrl: server.url, token: token.value, fetch, clientId });
}

export function folderOf({ io }: Call, given: string): string {
  return resolve(io.cwd, given);
}

/** `2 projects, 30 tasks`: numbers of records by their models. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).map(([model, count]) => counted(count, nounOf(model)));
  return words.length === 0 ? 'none' : words.join(', ');
}

function nounOf(model: string): string {
  return model.replaceAll(/(?!^)[A-Z]/g, ' $&').toLowerCase();
}
