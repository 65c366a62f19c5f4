import { builtProgram, eventually, nodeEnvironment, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { deviceSystem, type DeviceSystem } from './device-system.ts';

const PROGRAM = await builtProgram(fileURLToPath(new URL('main.ts', import.meta.resolve('@wts/verify'))));

interface Run extends AsyncDisposable {
  readonly text: () => string;
  readonly stop: () => void;
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>;
}

function run(args: readonly string[], env: NodeJS.ProcessEnv): Run {
  // In another directory, because the program would find the system of `npm start` in the repository.
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: tmpdir(),
    env: { ...nodeEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    text: () => text,
    stop: () => void child.kill('SIGTERM'),
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

describe('npm run verify:log', () => {
  let system: DeviceSystem;
  let testSystem: TestSystem;
  let client: Client;

  before(async () => {
    system = await deviceSystem();
    testSystem = system.testSystem;
    client = new Client({ connectionString: testSystem.database.url });
    await client.connect();
  });
  after(() => client.end());

  const environment = (): NodeJS.ProcessEnv => ({
    BASE_URL: testSystem.baseUrl,
    API_KEY: testSystem.apiKey,
    DATABASE_URL: testSystem.database.url,
    NATS_URL: testSystem.nats.urlOf('verify'),
  });
  async function verify(args: readonly string[], env = environment()): Promise<{ code: number | null; text: string }> {
    await using program = run(args, env);
    return { code: await program.ended, text: program.text() };
  }
  const quick = ['--seconds', '0.5', '--sockets', '1'];
  const setTitle = (title: string): Promise<unknown> =>
    client.query(`update sync.tasks set title = $1 where id = (select id from sync.tasks order by id limit 1)`, [
      title,
    ]);

  /** Of a run in which every guarantee held. */
  const assertPassed = (code: number | null, text: string): void => {
    assert.equal(code, 0, text);
    assert.match(text, /^live {5}[1-9]\d* entries to each of 5 followers$/m);
    assert.match(text, /^new copy [1-9]\d* records/m);
    assert.match(text, /^old copy [1-9]\d* records, loaded at the start and then updated from the log$/m);
    assert.match(text, /^Passed:/m);
  };

  const ownTasks = async (): Promise<number> => {
    const { rows } = await client.query(`select from sync.tasks where title = 'Written by verify:log'`);
    return rows.length;
  };

  it('exits with 0 and prints what it audited when every guarantee holds, and deletes every task it wrote, also when it is stopped early', async () => {
    assert.equal(await ownTasks(), 0, 'tasks of the audit before');
    await using program = run(['--seconds', '60', '--writes', '50'], environment());
    await eventually(async () => (await ownTasks()) > 5);
    program.stop();
    assertPassed(await program.ended, program.text());
    assert.equal(await ownTasks(), 0);
  });

  it('exits with 1 and prints the broken guarantee when one does not hold', async () => {
    const { rows } = await client.query<{ title: string }>('select title from sync.tasks order by id limit 1');
    await setTitle('Changed past the service');
    const { code, text } = await verify(quick);
    await setTitle(rows[0]?.title ?? '');
    assert.equal(code, 1, text);
    assert.match(text, /^BROKEN {3}columns-are-record: Task /m);
    assert.doesNotMatch(text, /Passed/);
  });

  it('--follow continues while the system restarts, until it is stopped', async () => {
    await using program = run(['--follow', ...quick], environment());
    const rounds = (): number => program.text().match(/^Passed:/gm)?.length ?? 0;
    await eventually(() => rounds() > 0);
    await testSystem.service('gateway').kill('SIGKILL');
    await eventually(() => program.text().includes('down '));
    await testSystem.service('gateway').start();
    await testSystem.untilReady();
    const before = rounds();
    await eventually(() => rounds() > before);
    program.stop();
    assert.equal(await program.ended, 0, program.text());
  });

  it('--follow exits with 1 when a guarantee was broken in an earlier round', async () => {
    const { rows } = await client.query<{ title: string }>('select title from sync.tasks order by id limit 1');
    await setTitle('Changed past the service');
    await using program = run(['--follow', ...quick], environment());
    await eventually(() => program.text().includes('BROKEN'));
    await setTitle(rows[0]?.title ?? '');
    await eventually(() => program.text().includes('Passed'));
    program.stop();
    assert.equal(await program.ended, 1, program.text());
  });

  it('exits with 1 and prints why when it cannot run the audit', async () => {
    for (const [args, env, message] of [
      [[...quick, '--writes', '20'], { ...environment(), API_KEY: testSystem.readOnlyApiKey }, /403/],
      [quick, {}, /The service is not running/],
      [quick, { ...environment(), API_KEY: 'wts_wrong' }, /401/],
    ] as const) {
      const { code, text } = await verify(args, env);
      assert.equal(code, 1, text);
      assert.match(text, message);
    }
  });

  // Last: the log stays trimmed.
  it('audits a log whose start was trimmed', async () => {
    await system.trimLog();
    const { code, text } = await verify(['--seconds', '0.5', '--writes', '20']);
    assertPassed(code, text);
  });
});
