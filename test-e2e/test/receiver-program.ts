import { eventually, freePort, type Received } from '@wts/testkit';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const PACKAGE = new URL('..', import.meta.url);

/** Runs a program that listens on PORT, as a user who copied it would. */
export async function runProgram(
  program: string,
  secret: string,
): Promise<AsyncDisposable & { post: (headers: Received['headers'], body: string) => Promise<number> }> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: PACKAGE,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(() => fetch(url));
  return {
    post: async (headers, body) => {
      const sent = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'));
      const init = { method: 'POST', headers: Object.fromEntries(sent) as Record<string, string>, body };
      return (await fetch(url, init)).status;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
