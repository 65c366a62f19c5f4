/** `npm run watch`: prints every change that a key may see, as it happens. */
import { SyncClient, type SyncEvent } from '@wts/client';
import { readOptions } from './command-options.ts';
import { STACK_FILE } from './layout.ts';
import { UserError } from './user-error.ts';
import { readStackFile } from './stack-file.ts';
import { runTask } from './task.ts';
import { WatchLines } from './watch-lines.ts';

const USAGE = `npm run watch [-- options]

  --token KEY    print what this API key or access token may see; default the demo key
  --after N      print the changes after this position of the log first; default new changes only
  --help         print this text`;

await runTask(async () => {
  const options = readOptions(USAGE, { token: { type: 'string' }, after: { type: 'string' } });
  if (options === null) return 0;
  if (options.after !== undefined && !/^\d{1,19}$/.test(options.after))
    throw new UserError(`--after takes a position of the log, a whole number, not "${options.after}".`);
  const stack = readStackFile();
  if (stack === null)
    throw new UserError(
      `The service is not running (${STACK_FILE} does not exist). Start it in another terminal: npm start`,
    );
  const client = new SyncClient({ baseUrl: stack.baseUrl, token: options.token ?? stack.apiKey });
  const after = options.after ?? (await head(client));
  printAll(client.follow({ after })).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
  return 'until stopped';
});

async function printAll(events: AsyncIterable<SyncEvent>): Promise<void> {
  const lines = new WatchLines();
  for await (const event of events) for (const line of lines.of(event)) console.log(line);
}

/** The head of the log, after which watching begins. */
async function head(client: SyncClient): Promise<string> {
  let page = await client.deltas('0', { limit: 5000 }).catch(rethrow);
  while (page.hasMore) page = await client.deltas(page.lastSyncId, { limit: 5000 }).catch(rethrow);
  return page.lastSyncId;
}

function rethrow(error: unknown): never {
  throw new UserError(error instanceof Error ? error.message : String(error));
}
