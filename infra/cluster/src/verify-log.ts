import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { LOCAL } from '@wts/local';
import type { CheckedSystem } from '@wts/verify';

const PROGRAM = join(dirname(LOCAL), 'infra/verify/src/main.ts');
const ENDS_MS = 180_000;

/** `npm run verify:log` on a cluster, as an operator runs it. Resolves to whether it passed, in time. */
export async function verifyLog(system: CheckedSystem, print: (line: string) => void): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, '--seconds', '10', '--writes', '20'], {
    cwd: dirname(LOCAL),
    env: {
      ...process.env,
      BASE_URL: system.baseUrl,
      API_KEY: system.apiKey,
      DATABASE_URL: system.database.url,
      NATS_URL: system.nats.url,
      SHARD: String(system.shard ?? 0),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: ENDS_MS,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  for (const line of output.trim().split('\n')) print(`verify:log ${line}`);
  if (code === null) print(`verify:log DID NOT END WITHIN ${ENDS_MS / 1000} s`);
  return code === 0;
}
