import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { runWts } from '../../test/test-run.ts';
import { EXITS } from '../fault.ts';
import { helpText } from './help.ts';
import { parse } from './parse.ts';
import { route } from './route.ts';
import { readFlags, GLOBAL_OPTIONS, type CommandSpec } from './spec.ts';
import { TOPICS } from './topics.ts';
import { ROOT } from './tree/index.ts';

const LOOK = { isColored: false, isTerminal: false, columns: 80 };
const ALL: readonly (readonly CommandSpec[])[] = below([ROOT]);

function below(path: readonly CommandSpec[]): (readonly CommandSpec[])[] {
  return [path, ...(path.at(-1)?.commands ?? []).flatMap((one) => below([...path, one]))];
}

describe('the commands', () => {
  it('have help, also after other flags and by the word help', async () => {
    for (const path of ALL) {
      const words = path.slice(1).map(({ name }) => name);
      const { code, out } = await runWts([...words, '--no-color', '--help']);
      assert.equal(code, 0);
      assert.ok(out.startsWith(`${path.at(-1)?.summary}.`), words.join(' '));
      assert.equal((await runWts(['help', ...words])).out, out);
    }
  });

  it('show a short help with an example when nothing is given', async () => {
    const { code, out } = await runWts([]);
    assert.equal(code, 0);
    assert.match(out, /Examples\n {2}\$ wts /);
    assert.match(out, /-V, --version/);
  });

  it('have a load or commands, options with flags of their own, and no full stop in a summary', () => {
    for (const path of ALL) {
      const spec = path.at(-1) as CommandSpec;
      assert.notEqual(spec.load === undefined, spec.commands === undefined, spec.name);
      assert.doesNotMatch(spec.summary, /\.$/);
      const flags = [...GLOBAL_OPTIONS, ...(spec.options ?? [])].flatMap((option) => {
        const { short, long } = readFlags(option.flags);
        return short === undefined ? [long] : [short, long];
      });
      assert.equal(new Set(flags).size, flags.length, `${spec.name}: ${flags.join(' ')}`);
      if (spec.implied !== undefined) assert.ok(spec.commands?.some(({ name }) => name === spec.implied));
    }
  });

  it('have an example in their help', () => {
    // Of operators, infra/docs/people.md has more than examples: a test runs it.
    const shown = ALL.filter((path) => path[1]?.name !== 'admin' && path.every(({ isHidden }) => isHidden !== true));
    const without = shown.filter((path) => !helpText(path, LOOK).includes('\nExamples\n  $ wts '));
    assert.deepEqual(
      without.map((path) => path.map(({ name }) => name).join(' ')),
      [],
    );
  });

  it('load their modules, each of which has the action', async () => {
    for (const path of ALL)
      assert.equal(typeof (await path.at(-1)?.load?.()), path.at(-1)?.load === undefined ? 'undefined' : 'function');
  });

  it('have the words of other tools for the same too', async () => {
    for (const [words, summary] of [
      ['task create', 'Create a task'],
      ['project create', 'Create a project'],
      ['label create', 'Create a label'],
      ['workspace add', 'Create a workspace'],
      ['api-key add', 'Create an API key'],
      ['webhook new', 'Create a webhook endpoint'],
      ['project ls', 'List projects'],
      ['task rm', 'Delete tasks for good'],
      ['task change', 'Change tasks'],
    ] as const)
      assert.ok((await runWts([...words.split(' '), '--help'])).out.startsWith(summary), words);
  });

  it('take options before, between and after their words, and none behind --', () => {
    for (const line of [
      '-q task add -p home A title',
      'task -q add A --project=home title',
      'task add A title --project home -q',
    ]) {
      const { path, rest } = route(line.split(' '), ROOT);
      const { words, options } = parse(path, rest);
      assert.deepEqual([words, options.text('project'), options.flag('quiet')], [['A', 'title'], 'home', true], line);
    }
    const { path, rest } = route(['task', 'add', '--', '-q', '--help'], ROOT);
    assert.deepEqual(parse(path, rest).words, ['-q', '--help']);
  });

  it('take a misspelled field behind their words for a field, never for a word of a title', () => {
    const read = (line: string) => {
      const { path, rest } = route(line.split(' '), ROOT);
      const { words, options } = parse(path, rest);
      return [words, options.text('json')];
    };
    assert.deepEqual(read('add Buy milk --json nosuch'), [['Buy', 'milk'], 'nosuch']);
    assert.deepEqual(read('comment add ACME-1 hello --json bodyy -q'), [['ACME-1', 'hello'], 'bodyy']);
    assert.deepEqual(read('task edit - --json key'), [['-'], 'key']);
    assert.deepEqual(read('add --json key,title Buy milk'), [['Buy', 'milk'], 'key,title']);
    assert.deepEqual(read('task add -p home --json Buy milk'), [['Buy', 'milk'], '']);
    assert.deepEqual(read('task --json ACME-1'), [['ACME-1'], '']);
  });

  it('refuse a wrong word, flag or value with the nearest right one', async () => {
    const wrong: readonly (readonly [argv: readonly string[], near: RegExp])[] = [
      [['tsak', 'list'], /Did you mean wts task\?/],
      [['task', 'lsit'], /Did you mean wts task list\?/],
      [['task', 'list', '--stat', 'open'], /Did you mean --state\?/],
      [['task', 'list', '--state', 'opne'], /Allowed choices are open, done/],
      [['task', 'list', '--json', 'titel'], /The fields: id, number, title/],
      [['whoami', 'me'], /too many arguments/i],
      [['task', 'show'], /missing required argument/i],
      [['graphql'], /No document was given\./],
      [['help', 'tsak'], /Did you mean wts task\?/],
    ];
    for (const [argv, near] of wrong) {
      const { code, out, err } = await runWts(argv);
      assert.equal(code, EXITS.usage[0], argv.join(' '));
      assert.equal(out, '');
      assert.match(err, near);
    }
  });

  it('refuse a blank name of anything, also among others, before anything is done', async () => {
    for (const line of [
      'task done <>',
      'task done ACME-1 <>',
      'task list --label x --label <>',
      'checklist check ACME-1 <>',
      'webhook test <>',
      'comment delete <>',
      'whoami --workspace <>',
      ...['project', 'team', 'label'].map((noun) => `${noun} archive x <>`),
      'workspace use <>',
      'workspace members --remove <>',
    ])
      for (const blank of ['', ' \t']) {
        const { code, err } = await runWts(line.split(' ').map((word) => (word === '<>' ? blank : word)));
        assert.equal(code, EXITS.usage[0], `${line}: ${err}`);
        assert.match(err, /may not be empty/);
      }
  });

  it('look for the folder of an import before they need a key', async () => {
    const { code, err } = await runWts(['import', '/no/such/folder', '--new', 'x']);
    assert.deepEqual([code, err], [EXITS.usage[0], 'There is no folder /no/such/folder.\n']);
  });

  it('take no name that every object has for a profile', async () => {
    for (const profile of ['constructor', '__proto__']) {
      const { code, err } = await runWts(['whoami', '--profile', profile]);
      assert.deepEqual([code, err.includes(`There is no profile "${profile}"`)], [EXITS['not-found'][0], true], err);
    }
  });

  it('say once where no service is chosen, of all that the doctor looks at', async () => {
    const { code, out } = await runWts(['doctor', '--json']);
    const found = JSON.parse(out) as readonly { readonly state: string; readonly text: string }[];
    const failed = found.filter(({ state }) => state === 'failed').map(({ text }) => text);
    assert.deepEqual([code, failed], [1, ['no service is chosen: wts login https://api.example.com']]);
  });

  it('end at Ctrl-C also while nothing reads their output, and say so when it cannot be written', async () => {
    const interrupting = new AbortController();
    const stdout = new PassThrough({ highWaterMark: 1 });
    const running = runWts(['help', 'environment'], { more: { stdout, interrupted: interrupting.signal } });
    await once(stdout, 'readable');
    interrupting.abort();
    assert.deepEqual(await running, { code: 130, out: '', err: 'Interrupted.\n' });
    const full = new Writable({ write: (_, _encoding, done) => done(Object.assign(new Error(), { code: 'ENOSPC' })) });
    const { code, err } = await runWts(['--version'], { more: { stdout: full } });
    assert.deepEqual([code, err], [1, 'The output cannot be written (ENOSPC).\n']);
  });

  it('print errors as JSON on stderr with --json', async () => {
    const { code, out, err } = await runWts(['whoami', '--json']);
    assert.deepEqual([code, out], [EXITS['sign-in'][0], '']);
    const { error } = JSON.parse(err) as { error: Record<string, unknown> };
    assert.deepEqual(Object.keys(error), ['code', 'message', 'hint', 'requestId']);
    assert.equal(error['code'], 'sign_in');
  });

  it('read nothing of a server, and no credential, for help and version', async () => {
    for (const argv of [['--help'], ['--version'], ['task', 'add', '-h']])
      assert.equal((await runWts(argv, { env: { WTS_URL: 'no address', WTS_PROFILE: 'none' } })).code, 0);
  });
});

describe('the exit codes', () => {
  it('stand in the help, each once', async () => {
    const { out } = await runWts(['help', 'exit-codes']);
    const codes = Object.values(EXITS).map(([code]) => code);
    assert.equal(new Set(codes).size, codes.length);
    assert.deepEqual([0, 1, 2, 4, 5, 6, 7, 8, 9, 130], codes);
    for (const code of codes) assert.match(out, new RegExp(`^ +${code} `, 'm'));
    assert.equal(TOPICS.length, 3);
  });

  it('are 130 after Ctrl-C', async () => {
    const interrupted = AbortSignal.abort();
    const { code, err } = await runWts(['whoami'], { more: { interrupted } });
    assert.deepEqual([code, err], [130, 'Interrupted.\n']);
  });
});
