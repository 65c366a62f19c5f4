import { createInterface } from 'node:readline/promises';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';

/** Asks a yes-or-no question. Throws when the answer is no, and where no person can answer and `--yes` is not given. */
export async function confirm(call: Call, question: string): Promise<void> {
  if (call.options.flag('yes')) return;
  const answer = await ask(call, `${question} [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw usageFault('Cancelled.');
}

/** For what cannot be undone: the person types the key of what they mean. Keeps cli.delete.confirmed. */
export async function confirmTyped(call: Call, question: string, key: string): Promise<void> {
  if (call.options.flag('yes')) return;
  const answer = await ask(call, `${question}\nType ${key} to confirm: `);
  if (answer.trim().toLowerCase() !== key.toLowerCase()) throw usageFault('Cancelled: it was not confirmed.');
}

async function ask({ io, signal }: Call, question: string): Promise<string> {
  if (!io.isTty.stdin) {
    const [first = ''] = question.replace('[y/N]', '').split('\n');
    throw usageFault(`Not confirmed: ${first.trim()}`, 'Where no person can be asked, --yes confirms it.');
  }
  const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
  try {
    // The end of the input is no answer.
    const ended = new Promise<string>((resolve) => {
      lines.once('close', () => resolve(''));
    });
    return await Promise.race([lines.question(question, { signal }), ended]);
  } finally {
    lines.close();
  }
}
