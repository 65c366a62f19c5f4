import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliPerson, type CliPerson } from './cli-person.ts';

describe('tasks by the command line', function cliTasks() {
  this.timeout(60_000);
  let tool: CliPerson;
  let KEY: string;
  const wts: CliPerson['wts'] = (...given) => tool.wts(...given);
  const ok: CliPerson['ok'] = (...argv) => tool.ok(...argv);

  before(async () => {
    tool = await cliPerson('Tool');
    ({ KEY } = tool);
  });

  it('says who is signed in, where, and where the credential came from', async () => {
    const { out } = await wts(['whoami'], { columns: 80 });
    for (const text of ['Tool', `${tool.testSystem.baseUrl} (WTS_URL)`, 'WTS_TOKEN', `${tool.urlKey} (WTS_WORKSPACE)`])
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
    assert.match(await ok('task', 'list'), new RegExp(`^${KEY}-1\tWrite the report\t2026-11-27\thigh\t`));
    const [task] = JSON.parse(await ok('task', 'list', '--json', 'number,workspace')) as Record<string, unknown>[];
    assert.deepEqual(Object.keys(task ?? {}), ['number', 'workspace']);
    const [id = ''] = (await ok('task', 'list', '-q')).split('\n');
    assert.match(id, /^[0-9a-f-]{36}$/);
    const [line = ''] = (await ok('task', 'list', '--ndjson')).split('\n');
    assert.equal((JSON.parse(line) as { id: string }).id, id);
  });

  it('shows a task by key, number, id, beginning of its id, address, and title [cli.names.task]', async () => {
    const id = (await ok('task', 'show', '1', '-q')).trim();
    const words = [
      `${KEY}-1`,
      `#1`,
      id,
      id.slice(0, 9),
      `https://tasks.example.com/${tool.urlKey}/${KEY}-1?x=1`,
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

  it('shows marks instead of escape sequences in titles [cli.output.safe]', async () => {
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
    writeFileSync(join(tool.folder, 'notes.md'), '# Notes\n');
    const { out } = await wts(['task', 'add', 'With notes', '-d', '@notes.md', '--json', 'description']);
    assert.deepEqual(JSON.parse(out), { description: '# Notes' });
  });

  it('exits with the code of what went wrong [cli.exit.codes]', async () => {
    const readOnly = await tool.testSystem.keyOf(tool.person, { permissions: 'read-only' });
    const cases: readonly (readonly [
      argv: readonly string[],
      code: number,
      env?: Record<string, string | undefined>,
    ])[] = [
      [['task', `${KEY}-9999`], 5],
      [['task', 'list', '-p', 'no such project'], 5],
      [['task', 'add', 'x', '--due', 'someday soon'], 2],
      [['task', 'list'], 4, { WTS_TOKEN: 'wts_wrong' }],
      [['task', 'add', 'x'], 4, { WTS_TOKEN: readOnly.token }],
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

  it('adds a task from quick words, and shows before what it would add', async () => {
    await ok('project', 'add', 'Home', '--key', 'HOME');
    await ok('label', 'add', 'money');
    const now = () => new Date('2026-11-24T12:00:00Z');
    const quick = ['add', 'Pay rent every 1st #home #money @tool !2'];
    const dry = await wts([...quick, '--dry-run'], { more: { now } });
    assert.match(dry.out, /^title\tPay rent\nproject\tHome\nlabels\tmoney\nassignee\tTool\npriority\thigh\n/);
    assert.match(dry.out, /^repeats\tevery month on the 1st day of the month$/m);
    assert.equal(dry.err, 'Nothing was created.\n');
    const { out } = await wts(quick, { columns: 160, more: { now } });
    assert.match(
      out,
      /^Created \S+ Pay rent, in Home, for Tool, due Tue 1 Dec, repeats every month on the 1st day of the month\n$/,
    );
    const unknown = await wts(['add', 'x', '#nothing']);
    assert.equal(unknown.code, 5);
    assert.match(unknown.err, /^No project is named "nothing".*\nNo label is named "nothing"/);
  });

  it('changes, completes, trashes, restores and moves tasks, and prints what it did to each', async () => {
    const [one, two] = [
      (await ok('task', 'add', 'First', '-q')).trim(),
      (await ok('task', 'add', 'Second', '-q')).trim(),
    ];
    assert.match(
      await tool.shown('task', 'edit', one, two, '--priority', 'low', '--add-label', 'money'),
      /^Changed \S+ First\nChanged \S+ Second\n$/,
    );
    assert.match(
      await tool.shown('task', 'edit', one, '-t', 'Renamed', '--due', '2026-12-24'),
      /Renamed, due Thu 24 Dec/,
    );
    assert.match(await tool.shown('task', 'done', one), /^Done \S+ Renamed\n$/);
    assert.match(await tool.shown('task', 'reopen', 'renamed'), /^Reopened /);
    assert.match(await tool.shown('task', 'move', two, '--before', one), /^Moved \S+ Second\n$/);
    assert.match(await tool.shown('task', 'move', two, '-p', 'home'), /^Moved \S+ Second, in Home\n$/);
    assert.match(await tool.shown('task', 'trash', one), /^Moved to the Trash /);
    assert.equal((await wts(['task', 'edit', one, '-t', 'x'])).code, 6);
    assert.match(await ok('task', 'list', '-s', 'archived'), /Renamed/);
    assert.match(await tool.shown('task', 'restore', one), /^Restored /);
    const shown = await tool.shown('task', one);
    for (const text of ['Renamed', 'low', 'money', 'Thu 24 Dec', 'open']) assert.ok(shown.includes(text), shown);
  });

  it('makes a task repeat, shows the next one of a completed one, skips a day and ends the series', async () => {
    const id = (await ok('task', 'add', 'Water the plants', '-q')).trim();
    assert.match(
      await tool.shown('task', 'repeat', id, 'every', 'monday', 'and', 'thursday'),
      /due .*, repeats every Monday and Thursday/,
    );
    const { out, err } = await wts(['task', 'done', id], { columns: 120 });
    assert.match(out, /^Done /);
    const [, next = ''] = /^Next (\S+) Water the plants, due /.exec(err) ?? [];
    assert.match(await tool.shown('task', 'skip', next), /^Skipped /);
    assert.doesNotMatch(await tool.shown('task', 'repeat', next, 'none'), /repeats/);
    assert.equal((await wts(['task', 'skip', next])).code, 2);
  });

  it('does what it can of a batch, reports each of the rest, and exits with 9 [cli.batch.partly]', async () => {
    const id = (await ok('task', 'add', 'In a batch', '-q')).trim();
    const { code, out, err } = await wts(['task', 'done', id, `${KEY}-9999`, 'no such title']);
    assert.equal(code, 9);
    assert.match(out, new RegExp(`^${id}\t`));
    assert.match(err, /^2 of 3 failed, the others are done\.\n.*-9999: .*\n {2}no such title: /);
    assert.equal((await wts(['task', 'done', `${KEY}-9999`, `${KEY}-9998`])).code, 5);
  });

  it('prints a list as JSON where it takes several tasks, also for one, and else one object', async () => {
    const created = JSON.parse(await ok('task', 'add', 'As JSON', '--json', 'id,title')) as {
      id: string;
      title: string;
    };
    assert.deepEqual(JSON.parse(await ok('task', 'done', created.id, '--json', 'id,title')), [created]);
    assert.deepEqual(JSON.parse(await ok('task', 'repeat', created.id, 'none', '--json', 'id,title')), created);
  });

  it('takes tasks from the list of another command', async () => {
    const ids = await ok('task', 'list', '-S', 'twice', '-q');
    const { code, out } = await wts(['task', 'edit', '-', '--priority', 'urgent', '-q'], { stdin: ids });
    assert.deepEqual([code, out.split('\n').toSorted()], [0, ids.split('\n').toSorted()]);
  });

  it('deletes for good only when the key is typed, or in a script with --yes [cli.delete.confirmed]', async () => {
    const id = (await ok('task', 'add', 'Delete me', '-q')).trim();
    const key = `${KEY}-${numberOf(await ok('task', id, '--json', 'number'))}`;
    assert.match(await ok('task', 'delete', id, '--dry-run'), new RegExp(`^Would delete ${key} `));
    assert.equal((await wts(['task', 'delete', id])).code, 2);
    const refused = await wts(['task', 'delete', id], { columns: 80, stdin: 'yes\n' });
    assert.deepEqual([refused.code, refused.out], [2, '']);
    assert.equal((await wts(['task', 'delete', id], { columns: 80, stdin: '' })).code, 2);
    const { code, out } = await wts(['task', 'delete', id], { columns: 80, stdin: `${key}\n` });
    assert.deepEqual([code, out], [0, `Deleted ${key} Delete me\n`]);
    assert.equal((await wts(['task', id])).code, 5);
  });

  it('lists what is mine today, what has no plan, and what starts later', async () => {
    const [title] = [randomUUID()];
    await ok('task', 'add', `Now ${title}`, '--due', 'today');
    await ok('task', 'add', `Later ${title}`, '--start', '+3d');
    await ok('task', 'add', `Plain ${title}`);
    for (const [list, name] of [
      ['today', 'Now'],
      ['upcoming', 'Later'],
      ['inbox', 'Plain'],
    ] as const)
      assert.match(await ok(list, '-S', title), new RegExp(`\t${name} ${title}\t`), list);
  });

  it('opens the editor of the person for a title and a description', async () => {
    const launch = async (_: string, { args = [] }: { readonly args?: readonly string[] }): Promise<number> => {
      writeFileSync(args[0] ?? '', 'From the editor\n\nWith a text.\n');
      return 0;
    };
    const { out } = await wts(['task', 'add', '--json', 'title,description'], { columns: 80, more: { launch } });
    assert.deepEqual(JSON.parse(out), { title: 'From the editor', description: 'With a text.' });
    const cancelled = await wts(['task', 'add'], { columns: 80, more: { launch: async () => 1 } });
    assert.equal(cancelled.code, 2);
  });
});

function numberOf(json: string): number {
  return (JSON.parse(json) as { number: number }).number;
}
