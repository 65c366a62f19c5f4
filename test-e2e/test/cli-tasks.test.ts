import { runWts, type TestRun, type TestRunOptions } from '@wts/cli/test-run';
import { scratch, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSystem } from './shared-system.ts';

describe('tasks by the command line', function cliTasks() {
  this.timeout(60_000);
  let testSystem: TestSystem;
  /** A person of this file alone, because other files expect the demo owner to be in one workspace. */
  let token: string;
  let readOnlyToken: string;
  const folder = scratch('cli-tasks');
  const urlKey = `cli-${randomUUID().slice(0, 8)}`;
  const KEY = urlKey.toUpperCase();

  const wts = (argv: readonly string[], options: TestRunOptions = {}): Promise<TestRun> => {
    const env = {
      WTS_URL: testSystem.baseUrl,
      WTS_TOKEN: token,
      WTS_WORKSPACE: urlKey,
      WTS_CONFIG_DIR: folder,
      ...options.env,
    };
    return runWts(argv, { ...options, env });
  };
  const ok = async (...argv: string[]): Promise<string> => {
    const { code, out, err } = await wts(argv);
    assert.equal(code, 0, `${argv.join(' ')}: ${err}`);
    return out;
  };

  before(async () => {
    testSystem = await sharedSystem();
    const person = await testSystem.person('Tool');
    ({ token } = await testSystem.keyOf(person, { permissions: 'full-access' }));
    readOnlyToken = (await testSystem.keyOf(person, { permissions: 'read-only' })).token;
    await ok('api', 'POST', '/api/workspaces', '-F', 'name=Of the tool', '-F', `urlKey=${urlKey}`);
  });

  it('says who is signed in, where, and where the credential came from', async () => {
    const { out } = await wts(['whoami'], { columns: 80 });
    for (const text of ['Tool', `${testSystem.baseUrl} (WTS_URL)`, 'WTS_TOKEN', `${urlKey} (WTS_WORKSPACE)`])
      assert.ok(out.includes(text), out);
  });

  it('creates a task from words, and echoes how it understood the day', async () => {
    const now = () => new Date('2026-11-24T12:00:00Z');
    const argv = ['task', 'add', 'Write', 'the', 'report', '--due', 'friday', '--priority', 'high', '-d', '-'];
    const { out } = await wts(argv, { columns: 80, stdin: 'Two\nlines\n', more: { now } });
    assert.match(out, new RegExp(`^Created ${KEY}-1 Write the report, due Fri 27 Nov\n$`));
    const shown = await ok('task', `${KEY}-1`, '--json=title,description,deadlineAt,priority');
    assert.deepEqual(JSON.parse(shown), {
      title: 'Write the report',
      description: 'Two\nlines',
      deadlineAt: '2026-11-27',
      priority: 2,
    });
  });

  it('lists tasks as a table for a terminal, as full values for a pipe, as JSON and as ids', async () => {
    const table = await wts(['task', 'list', '--no-color'], { columns: 60 });
    assert.match(table.out, /^KEY +TITLE .*\nCLI-/);
    assert.match(await ok('task', 'list'), new RegExp(`^${KEY}-1\tWrite the report\t.*\t2026-11-27\t`));
    const [task] = JSON.parse(await ok('task', 'list', '--json', 'number,workspace')) as Record<string, unknown>[];
    assert.deepEqual(Object.keys(task ?? {}), ['number', 'workspace']);
    const [id = ''] = (await ok('task', 'list', '-q')).split('\n');
    assert.match(id, /^[0-9a-f-]{36}$/);
    const [line = ''] = (await ok('task', 'list', '--ndjson')).split('\n');
    assert.equal((JSON.parse(line) as { id: string }).id, id);
  });

  it('shows a task by key, number, id, beginning of its id, address, and title', async () => {
    const id = (await ok('task', 'show', '1', '-q')).trim();
    const words = [
      `${KEY}-1`,
      `#1`,
      id,
      id.slice(0, 9),
      `https://tasks.example.com/${urlKey}/${KEY}-1?x=1`,
      'write the REPORT',
      'report',
    ];
    for (const word of words) assert.equal((await ok('task', word, '-q')).trim(), id, word);
  });

  it('names all tasks that a title may mean, and exits with 6', async () => {
    for (const title of ['Twice', 'twice']) await ok('task', 'add', title);
    const { code, err } = await wts(['task', 'TWICE']);
    assert.equal(code, 6);
    assert.match(err, /-2 {2}Twice/);
    assert.match(err, /-3 {2}twice/);
  });

  it('shows marks instead of escape sequences in titles', async () => {
    await ok('task', 'add', '\u001b]52;c;ZWNobw==\u0007 clipboard');
    for (const columns of [undefined, 100]) {
      const { out } = await wts(
        ['task', 'list', '-S', 'clipboard'],
        columns === undefined ? {} : { columns, env: { NO_COLOR: '1' } },
      );
      assert.doesNotMatch(out, /\p{Cc}(?<![\t\n])/u);
      assert.match(out, /␛\]52;c;ZWNobw==␇/);
    }
  });

  it('reads a long text from a file', async () => {
    writeFileSync(join(folder, 'notes.md'), '# Notes\n');
    const { out } = await wts(['task', 'add', 'With notes', '-d', '@notes.md', '--json', 'description'], {
      more: { cwd: folder },
    });
    assert.deepEqual(JSON.parse(out), { description: '# Notes' });
  });

  it('exits with the code of what went wrong', async () => {
    const cases: readonly (readonly [
      argv: readonly string[],
      code: number,
      env?: Record<string, string | undefined>,
    ])[] = [
      [['task', `${KEY}-9999`], 5],
      [['task', 'list', '-p', 'no such project'], 5],
      [['task', 'add', 'x', '--due', 'someday soon'], 2],
      [['task', 'list'], 4, { WTS_TOKEN: 'wts_wrong' }],
      [['task', 'add', 'x'], 4, { WTS_TOKEN: readOnlyToken }],
      [['task', 'list'], 8, { WTS_URL: 'http://127.0.0.1:9' }],
      [['task', 'list', '--profile', 'none'], 5],
      [['api', 'GET', '/api/nothing'], 5],
      [['graphql', '{ nothing }'], 2],
    ];
    for (const [argv, code, env = {}] of cases) {
      const { code: actual, out, err } = await wts([...argv, '--json'], { env });
      assert.equal(actual, code, `${argv.join(' ')}: ${out}${err}`);
      const { error } = JSON.parse(err) as { error: { message: string; requestId: string | null } };
      assert.notEqual(error.message, '');
    }
  });
});
