import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectTo, nodeEnvironment } from '@wts/testkit';
import { sharedSystem } from './shared-system.ts';

const PROGRAM = fileURLToPath(new URL('during/main.ts', import.meta.resolve('@wts/verify')));

interface Ran {
  /** Undefined when it was 0. */
  readonly code?: number;
  readonly stdout: string;
}

describe('npm run verify:during', () => {
  it('exits with 0 when no request and no command failed, else with 1, and leaves no task', async () => {
    const { baseUrl, authUrl, apiKey, database } = await sharedSystem();
    const env = { ...nodeEnvironment(), BASE_URL: baseUrl, AUTH_URL: authUrl, API_KEY: apiKey };
    // In another directory, because the program would find the system of `npm start` in the repository.
    const run = (...commands: string[]): Promise<Ran> =>
      promisify(execFile)(process.execPath, [PROGRAM, ...commands], { cwd: tmpdir(), env }).catch(
        (error: unknown) => error as Ran,
      );
    const { code, stdout } = await run('true');
    assert.equal(code, undefined, stdout);
    assert.match(stdout, /^nothing\n {2}[\d.]+ s, exit 0; [1-9]\d* requests, 0 failed, 0 times 503 with Retry-After;/m);
    assert.match(stdout, /^true\n {2}[\d.]+ s, exit 0; /m);
    assert.match(stdout, /^The socket received all [1-9]\d* changes, each once and in order\.$/m);
    const failed = await run('exit 3');
    assert.equal(failed.code, 1, failed.stdout);
    assert.match(failed.stdout, /^exit 3\n {2}[\d.]+ s, exit 3; /m);
    await using client = await connectTo(database.url);
    const { rowCount } = await client.query(`select from sync.tasks where title = 'Written by verify:during'`);
    assert.equal(rowCount, 0);
  });
});
