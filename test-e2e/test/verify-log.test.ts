import { eventually, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { Arranged } from './arrange.ts';

const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.resolve('@wts/verify')));

interface Run extends AsyncDisposable {
  readonly text: () => string;
  readonly stop: () => void;
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>;
}

function run(args: readonly string[], env: NodeJS.ProcessEnv): Run {
  // Away from the repository, where the system of an `npm start` would be found.
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  }
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

describe('npm run verify:log', function () {
  this.timeout(120_000);
  let arranged: Arranged;
  let testSystem: TestSystem;
  let client: Client;

  before(async () => {
    arranged = await Arranged.open('verify-log');
    testSystem = arranged.testSystem;
    client = new Client({ connectionString: testSystem.database.url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await arranged[Symbol.asyncDispose]();
  });

  const system = (): NodeJS.ProcessEnv => ({
    BASE_URL: testSystem.baseUrl,
    API_KEY: testSystem.apiKey,
    DATABASE_URL: testSystem.database.url,
    NATS_URL: testSystem.nats.urlOf('verify'),
  });
  async function verify(args: readonly string[], env = system()): Promise<{ code: number | null; text: string }> {
    await using program = run(args, env);
    return { code: await program.ended, text: program.text() };
  }
  const quick = ['--seconds', '0.5'];
  const titled = (title: string): Promise<unknown> =>
    client.query(`update sync.tasks set title = $1 where id = (select id from sync.tasks order by id limit 1)`, [
      title,
    ]);

  it('ends with 0 and says what it looked at when everything holds', async () => {
    const { code, text } = await verify(['--seconds', '1', '--writes', '20']);
    assert.equal(code, 0, text);
    assert.match(text, /^live {5}[1-9]\d* entries to each of 5 listeners$/m);
    assert.match(text, /^newcomer [1-9]\d* records/m);
    assert.match(text, /^replica {2}[1-9]\d* records, loaded before and followed since$/m);
    assert.match(text, /^Sound:/m);
  });

  const ownTasks = async (): Promise<number> => {
    const { rows } = await client.query(`select from sync.tasks where title = 'Written by verify:log'`);
    return rows.length;
  };

  it('deletes every task it wrote, also when it is stopped in the middle', async () => {
    assert.equal(await ownTasks(), 0, 'tasks of the audit before');
    await using program = run(['--seconds', '60', '--writes', '50'], system());
    await eventually(async () => (await ownTasks()) > 5, { deadlineMs: 45_000 });
    program.stop();
    assert.equal(await program.ended, 0, program.text());
    assert.equal(await ownTasks(), 0);
  });

  it('ends with 1 and says what is broken when something does not', async () => {
    const { rows } = await client.query<{ title: string }>('select title from sync.tasks order by id limit 1');
    await titled('Past the one door');
    const { code, text } = await verify(quick);
    await titled(rows[0]?.title ?? '');
    assert.equal(code, 1, text);
    assert.match(text, /^BROKEN {3}columns-are-record: Task /m);
    assert.doesNotMatch(text, /Sound/);
  });

  it('goes on beside a system that restarts until it is told to end, and tells of all it has seen', async () => {
    await using program = run(['--follow', ...quick], system());
    const rounds = (): number => program.text().match(/^Sound:/gm)?.length ?? 0;
    await eventually(() => rounds() > 0, { deadlineMs: 45_000 });
    await testSystem.service('gateway').kill('SIGKILL');
    await eventually(() => program.text().includes('away '), { deadlineMs: 45_000 });
    await testSystem.service('gateway').start();
    await testSystem.untilReady();
    const before = rounds();
    await eventually(() => rounds() > before, { deadlineMs: 45_000 });
    program.stop();
    assert.equal(await program.ended, 0, program.text());
  });

  it('ends with 1 when it was told to end after something was broken and mended again', async () => {
    const { rows } = await client.query<{ title: string }>('select title from sync.tasks order by id limit 1');
    await titled('Past the one door');
    await using program = run(['--follow', ...quick], system());
    await eventually(() => program.text().includes('BROKEN'), { deadlineMs: 45_000 });
    await titled(rows[0]?.title ?? '');
    await eventually(() => program.text().includes('Sound'), { deadlineMs: 45_000 });
    program.stop();
    assert.equal(await program.ended, 1, program.text());
  });

  it('judges nothing by nothing: what it cannot do it says, and ends with 1', async () => {
    for (const [args, env, words] of [
      [['--seconds', 'ten'], system(), /--seconds must be a number/],
      [[...quick, '--writes', '20'], { ...system(), API_KEY: testSystem.readOnlyApiKey }, /403/],
      [quick, {}, /The service is not running/],
      [quick, { ...system(), API_KEY: 'wts_wrong' }, /401/],
    ] as const) {
      const { code, text } = await verify(args, env);
      assert.equal(code, 1, text);
      assert.match(text, words);
    }
  });

  // Last: the log stays trimmed.
  it('audits a log that has lost its beginning', async () => {
    await arranged.trimLog();
    const { code, text } = await verify(['--seconds', '1', '--writes', '20']);
    assert.equal(code, 0, text);
    assert.match(text, /^newcomer [1-9]\d* records/m);
    assert.match(text, /^replica {2}[1-9]\d* records/m);
  });
});
