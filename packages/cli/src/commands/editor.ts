import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { NOT_FOUND } from '../output/pager.ts';

/** Whether a person is there who can answer. */
export function isAtTerminal({ io }: Pick<Call, 'io'>): boolean {
  return io.isTty.stdin && io.isTty.stdout;
}

/** What a person makes of a text in their editor. `name` is that of the file, whose end tells an editor its kind. */
export async function editedText({ io }: Pick<Call, 'io'>, text: string, name: string): Promise<string> {
  const editor = ['WTS_EDITOR', 'VISUAL', 'EDITOR'].map((one) => io.env[one] ?? '').find((one) => one !== '') ?? 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'wts-'));
  try {
    const file = join(folder, name);
    await writeFile(file, text, { mode: 0o600 });
    const code = await io.launch(editor, { args: [file] });
    const hint = 'EDITOR names another editor. Or give the text with the command.';
    if (code !== 0) throw usageFault(`Cancelled: ${editor} ended with ${code}.`, code === NOT_FOUND ? hint : undefined);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
