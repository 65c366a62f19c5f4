import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliFault, usageFault } from '../fault.ts';
import type { Io } from '../io.ts';

/** A secret in one line: typed without an echo at a terminal, else read from stdin. */
export async function readSecret(io: Io, prompt: string, signal: AbortSignal): Promise<string> {
  if (!io.isTty.stdin) return (await text(io.stdin)).trim();
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  // From here on the terminal has no echo, so the prompt comes after it.
  const reader = createInterface({ input: io.stdin, output: silence, terminal: true });
  const stopping = new Promise<never>((_, reject) => {
    const interrupt = (): void => reject(new CliFault('interrupted', 'Interrupted.'));
    // The reader keeps Ctrl-C from the process.
    reader.on('SIGINT', interrupt);
    signal.addEventListener('abort', interrupt, { once: true });
    reader.once('close', () => reject(usageFault('Cancelled: nothing was typed.')));
  });
  io.stderr.write(prompt);
  try {
    return (await Promise.race([reader.question(''), stopping])).trim();
  } finally {
    reader.close();
    io.stderr.write('\n');
  }
}
