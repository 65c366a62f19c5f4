import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Io } from '../io.ts';

/** A secret in one line: typed without an echo at a terminal, else read from stdin. */
export async function readSecret(io: Io, prompt: string, signal: AbortSignal): Promise<string> {
  if (!io.isTty.stdin) return (await text(io.stdin)).trim();
  io.stderr.write(prompt);
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: io.stdin, output: silence, terminal: true });
  // It keeps Ctrl-C from the process.
  const stopping = new Promise<never>((_, reject) => {
    reader.on('SIGINT', () => reject(new Error('interrupted')));
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    return (await Promise.race([reader.question(''), stopping])).trim();
  } finally {
    reader.close();
    io.stderr.write('\n');
  }
}
