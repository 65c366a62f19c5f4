import { eventually, nodeEnvironment, openWire, receiver } from '@wts/testkit';
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { cliPerson, type CliPerson } from './cli-person.ts';

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');

describe('what the command line prints, and how it ends', function cliOutput() {
  this.timeout(60_000);
  let tool: CliPerson;

  before(async () => {
    tool = await cliPerson('Reader');
    for (const title of ['First', 'Second', 'Third']) await tool.ok('task', 'add', title, '--due', '2026-01-02');
  });

  /** As a process of its own, in bash. */
  const shell = (command: string, env: Readonly<Record<string, string>> = {}): ChildProcess => {
    const own = {
      WTS_URL: tool.testSystem.baseUrl,
      WTS_TOKEN: tool.token,
      WTS_WORKSPACE: tool.urlKey,
      WTS_CONFIG_DIR: tool.folder,
    };
    const script = `wts() { '${process.execPath}' '${MAIN}' "$@"; }\n${command}`;
    return spawn('bash', ['-c', script], {
      env: { ...nodeEnvironment(), ...own, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  const ended = async (child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> => {
    const closed = once(child, 'close') as Promise<[number | null]>;
    const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), closed]);
    return { code, out, err };
  };

  it('has data alone on stdout, and notes on stderr, so that a pipe gets full values without colors or a header [cli.output.streams]', async () => {
    const { out, err } = await tool.wts(['task', 'list', '-L', '2'], { env: { NO_COLOR: undefined } });
    assert.match(out, /^CLI-\S+\tThird\t2026-01-02\tnone\t\t\t\t\t\nCLI-\S+\tSecond\t.*\n$/);
    assert.equal(err, 'The first 2; there are more: --limit 20\n');
    assert.equal((await tool.wts(['task', 'list', '-L', '2', '-q'])).err, '');
    assert.equal((await tool.wts(['task', 'list', '-S', 'nothing'], { columns: 80 })).err, 'No tasks.\n');
  });

  it('is colored at a terminal, unless the environment or a flag says otherwise', async () => {
    const isColored = async (
      env: Readonly<Record<string, string | undefined>>,
      columns?: number,
      ...flags: string[]
    ): Promise<boolean> => {
      const options = { env: { NO_COLOR: undefined, ...env }, ...(columns === undefined ? {} : { columns }) };
      return (await tool.wts(['task', 'list', ...flags], options)).out.includes('\u001b[');
    };
    assert.equal(await isColored({}, 80), true);
    for (const env of [{ NO_COLOR: '1' }, { CLICOLOR: '0' }, { TERM: 'dumb' }, { FORCE_COLOR: '0' }])
      assert.equal(await isColored(env, 80), false, JSON.stringify(env));
    assert.equal(await isColored({}, 80, '--no-color'), false);
    assert.equal(await isColored({}), false);
    for (const env of [{ CLICOLOR_FORCE: '1' }, { FORCE_COLOR: '1' }]) {
      assert.equal(await isColored(env, 80), true);
      assert.equal(await isColored({ ...env, NO_COLOR: '1' }, 80), false);
    }
  });

  it('goes through the pager of the person when it is longer than the terminal, and never as JSON', async () => {
    const paged: string[] = [];
    const launch = async (command: string, { input = '' }: { readonly input?: string }): Promise<number> => {
      paged.push(`${command}: ${input.split('\n')[0]}`);
      return 141;
    };
    const at = { columns: 80, more: { rows: 3, launch } };
    const { code, out } = await tool.wts(['task', 'list'], { ...at, env: { PAGER: 'more' } });
    assert.deepEqual([code, out, paged.length], [0, '', 1]);
    assert.match(paged[0] ?? '', /^more: KEY/);
    await tool.wts(['task', 'list', '--json'], at);
    for (const env of [{ WTS_PAGER: 'cat' }, { WTS_PAGER: '', PAGER: 'more' }])
      await tool.wts(['task', 'list'], { ...at, env });
    await tool.wts(['task', 'list'], { columns: 80, more: { launch } });
    assert.equal(paged.length, 1);
  });

  it('ends quietly with 0 when the reader of the output has enough', async () => {
    const { code, out, err } = await ended(shell('set -o pipefail; wts api /openapi.json | head -n 1'));
    assert.deepEqual([code, out, err], [0, '{\n', '']);
  });

  it('says once that a watch lost its connection, and when it is back, and prints each change once [cli.watch.once]', async () => {
    // The other tests here count the tasks of their person.
    const watcher = await cliPerson('Watcher');
    const { hostname, port } = new URL(tool.testSystem.baseUrl);
    await using wire = await openWire({ host: hostname, port: Number(port) });
    const [ending, stdout, stderr] = [new AbortController(), new PassThrough(), new PassThrough()];
    let [out, err] = ['', ''];
    stdout.on('data', (piece: Buffer) => (out += piece.toString()));
    stderr.on('data', (piece: Buffer) => (err += piece.toString()));
    const env = { WTS_URL: `http://127.0.0.1:${wire.port}` };
    const watching = watcher.wts(['watch', '--model', 'task'], {
      env,
      columns: 120,
      more: { interrupted: ending.signal, stdout, stderr },
    });
    await eventually(() => err.includes('Watching'));
    await watcher.ok('task', 'add', 'Before the loss');
    await eventually(() => out.includes('Before the loss'));
    wire.cut();
    await eventually(() => err.includes('Connection lost. Trying again'));
    await watcher.ok('task', 'add', 'During the loss');
    wire.mend();
    await eventually(() => err.includes('Connected again.') && out.includes('During the loss'));
    ending.abort();
    assert.equal((await watching).code, 130);
    assert.match(out, /^\S+ +\S+ Before the loss +created\n\S+ +\S+ During the loss +created\n$/);
    assert.match(err, /^Watching .*\nConnection lost\. .*\nConnected again\.\nInterrupted\.\n$/);
  });

  it('says so when no answer comes for two seconds, follows no redirect, and never prints the credential [cli.credential.origin]', async () => {
    const held = Promise.withResolvers<void>();
    await using server = await receiver();
    server.answer(({ path }) =>
      path === '/moved'
        ? { status: 302, headers: { location: tool.testSystem.baseUrl } }
        : held.promise.then(() => ({ status: 200, body: '{"ok":true}' })),
    );
    const env = { WTS_URL: server.url, WTS_DEBUG: '1' };
    try {
      const moved = await tool.wts(['api', '/moved'], { env });
      assert.equal(moved.code, 8);
      assert.match(moved.err, /no redirect is followed/);
      const child = shell('wts api /slow?code=hidden', env);
      let err = '';
      child.stderr!.setEncoding('utf8').on('data', (piece: string) => {
        err += piece;
        if (piece.includes('Waiting for 127.0.0.1')) held.resolve();
      });
      const closed = once(child, 'close') as Promise<[number]>;
      const [out, [code]] = await Promise.all([text(child.stdout!), closed]);
      assert.deepEqual([code, JSON.parse(out)], [0, { ok: true }]);
      assert.match(err, /> GET \/slow\?code=…/);
      assert.ok(![moved.err, err].some((printed) => printed.includes(tool.token) || printed.includes('hidden')));
    } finally {
      held.resolve();
    }
  });

  it('reads every page of REST and of GraphQL', async () => {
    const pages = async (...argv: string[]): Promise<object[]> =>
      (await tool.ok(...argv, '--paginate', '--ndjson'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
    assert.ok((await pages('api', '/sync/deltas', '-F', 'limit=2')).length > 2);
    const query =
      'query($endCursor: String) { tasks(first: 1, after: $endCursor) { nodes { title } pageInfo { hasNextPage endCursor } } }';
    const titles = (await pages('graphql', query)).map(
      (page) => (page as { tasks: { nodes: { title: string }[] } }).tasks.nodes[0]?.title,
    );
    assert.deepEqual(titles, ['Third', 'Second', 'First']);
  });

  it('has the shapes of the API as JSON [cli.output.json]', async () => {
    const keysOf = async (...argv: string[]): Promise<string[]> => {
      const value = JSON.parse(await tool.ok(...argv, '--json')) as object | object[];
      const [first = {}] = [value].flat();
      return Object.keys(first);
    };
    await tool.ok('project', 'add', 'Shapes');
    await tool.ok('label', 'add', 'shapes');
    const helpOf = async (...argv: string[]): Promise<string[]> => {
      const help = await tool.ok(...argv.filter((word) => !word.startsWith('CLI-')), '--help');
      return (help.split('JSON fields\n')[1] ?? '').trim().split(/,\s+/);
    };
    for (const argv of [
      ['task', 'list'],
      ['task', 'show', `${tool.KEY}-1`],
      ['project', 'list'],
      ['label', 'list'],
      ['workspace', 'list'],
      ['workspace', 'members'],
      ['search', 'first'],
      ['history', `${tool.KEY}-1`],
      ['whoami'],
    ]) {
      const [printed, documented] = [await keysOf(...argv), await helpOf(...argv)];
      if (argv[0] !== 'search' && argv[0] !== 'history')
        assert.deepEqual(printed.toSorted(), documented.toSorted(), argv.join(' '));
      else
        assert.deepEqual(
          printed.filter((key) => !documented.includes(key)),
          [],
          argv.join(' '),
        );
    }
    const [task] = JSON.parse(
      await tool.ok('task', 'list', '--json', 'number,workspace,labels,priority,deadlineAt'),
    ) as object[];
    const { workspace } = task as { workspace: { id: string } };
    assert.deepEqual(task, {
      number: 3,
      workspace: { id: workspace.id, urlKey: tool.urlKey, name: 'Of Reader' },
      labels: { nodes: [] },
      priority: 0,
      deadlineAt: '2026-01-02',
    });
  });

  it('says once a day at a terminal, after the output, when the service has another version', async () => {
    await using server = await receiver();
    server.answer(({ path }) => {
      const version = { info: { 'x-build': { version: '9.4.1' } } };
      const body = JSON.stringify(path === '/openapi.json' ? version : { ok: true, workspaces: [] });
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    });
    const own = { WTS_URL: server.url, XDG_CACHE_HOME: join(tool.folder, 'versions') };
    const noted = async (more: Readonly<Record<string, string>>, columns?: number, days = 0): Promise<boolean> => {
      const now = () => new Date(Date.now() + days * 86_400_000);
      const options = { env: { ...own, ...more }, more: { now }, ...(columns === undefined ? {} : { columns }) };
      return /the service is 9\.4\.1/.test((await tool.wts(['workspace', 'list'], options)).err);
    };
    assert.deepEqual(
      [await noted({}), await noted({ CI: '1' }, 80), await noted({ WTS_NO_UPDATE_NOTIFIER: '1' }, 80)],
      [false, false, false],
    );
    assert.deepEqual([await noted({}, 80), await noted({}, 80), await noted({}, 80, 2)], [true, false, true]);
  });

  it('says when to try again, and exits with 7, when the service asks for a long wait', async () => {
    await using server = await receiver();
    server.answer({ status: 429, headers: { 'retry-after': '60' }, body: '{}' });
    const { code, err } = await tool.wts(['task', 'list'], { env: { WTS_URL: server.url } });
    assert.deepEqual([code, err], [7, 'No reason was given (HTTP 429)\nTry again in 60 s.\n']);
  });

  it('completes keys and names of the chosen workspace, and keeps them for a slow moment [cli.complete.silent]', async () => {
    const env = { XDG_CACHE_HOME: join(tool.folder, 'cache') };
    const complete = async (more: Readonly<Record<string, string>>, ...words: string[]): Promise<string> =>
      (await tool.wts(['__complete', '--', ...words], { env: { ...env, ...more } })).out;
    await eventually(
      async () =>
        (await complete({}, 'task', 'done', `${tool.urlKey}-`)) ===
        [3, 2, 1].map((number, at) => `${tool.KEY}-${number}\t${['Third', 'Second', 'First'][at]}\n`).join(''),
    );
    await eventually(async () => (await complete({}, 'task', 'list', '--project', '')).includes('SHAPES\tShapes'));
    await eventually(async () => (await complete({}, 'task', 'list', '-a', '')).includes('Reader'));
    assert.equal(await complete({ WTS_TOKEN: 'wts_other' }, 'task', 'list', '--project', ''), '');
  });
});
