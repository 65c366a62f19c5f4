/** Types every command block of the documents into a terminal, beside a system that `npm start` runs. See the README. */
import { findNats, freePort, SERVICES, type StackFile } from '@wts/local';
import { programOf, scratch } from '@wts/testkit';
import assert from 'node:assert/strict';
import { closeSync, globSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { blocksOf, commandsOf, isTyped, printerOf, runningOf, type Block } from '../documents/blocks.ts';
import { cloneInto, type Place } from '../documents/place.ts';
import { type Program, Terminal } from '../documents/terminal.ts';

const ROOT = join(import.meta.dirname, '../..');
const FIRST = 'README.md';
/** `wts` prints for a reader at a terminal. */
const AT_TERMINAL = { WTS_FORCE_TTY: '100', NO_COLOR: '1', WTS_PAGER: 'cat' };
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
/**
 * Scripts as npm runs them, without npm, which takes longer than most of them. A command that keeps running has npm itself, because
 * `exec` runs no function.
 */
const NPM = `npm() {
  [ "$1" = run ] && shift; [ "$1" = -s ] && shift; local script=$1; shift; [ "\${1-}" = -- ] && shift
  case $script in ${Object.entries(scripts)
    .map(([name, command]) => `${name}) (${command} "$@") ;;`)
    .join(' ')} *) false ;; esac
}`;
/** What scripts of npm print about their options, as `command-options.test.ts` of `infra/local` shows. */
const USAGES = new Map(
  globSync('{infra,test-e2e}/*{,/src,/src/*}/*.ts', { cwd: ROOT }).flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^const USAGE = `((npm [\w: ]+) \[-- [^`]*)`/gm)].map(
      ([, usage = '', script = '']) => [script, usage] as const,
    ),
  ),
);
const documents = globSync('**/*.md', { cwd: ROOT, exclude: (path) => /(^|\/)(node_modules|\.\w+)$/.test(path) })
  .filter((path) => blocksOf(path, readFileSync(join(ROOT, path), 'utf8')).some(isRun))
  .toSorted((a, b) => Number(b === FIRST) - Number(a === FIRST));

describe('every command block of the documents', () => {
  const folder = join(scratch('documents'), 'clone');
  const running = new Map<string, Program>();
  const opened = new DisposableStack();
  let place: Place;
  let env: NodeJS.ProcessEnv;
  let addresses: readonly (readonly [printed: string, actual: string])[];

  before(async () => {
    place = opened.use(await cloneInto(folder, ROOT));
    const [port, authPort, natsPort] = [await freePort(), await freePort(), await freePort()];
    addresses = [
      ['http://127.0.0.1:4000', `http://127.0.0.1:${port}`],
      ['http://127.0.0.1:4001', `http://127.0.0.1:${authPort}`],
      ['https://auth.example.com', `http://127.0.0.1:${authPort}`],
      ['--port 4222', `--port ${natsPort}`],
    ];
    // What npm and the test run set for their own processes is not in the terminal of a reader.
    const own = Object.entries(process.env).filter(([name]) => !/^(npm_|TEST_|NODE_|CI$)/.test(name));
    const path = [process.env['PATH'], dirname(findNats(process.env).file)].join(delimiter);
    const npm = join(folder, '..', 'npm.sh');
    writeFileSync(npm, NPM);
    env = {
      ...Object.fromEntries(own),
      BASH_ENV: npm,
      INIT_CWD: folder,
      PATH: path,
      PORT: String(port),
      AUTH_PORT: String(authPort),
      ...AT_TERMINAL,
    };
  });
  after(async () => {
    for (const program of [...running.values()].toReversed()) await program.interrupt();
    opened.dispose();
  });

  const stack = (): StackFile => JSON.parse(readFileSync(place.pathOf('stack.json'), 'utf8')) as StackFile;

  for (const [index, path] of documents.entries()) {
    it(`runs as printed: ${path}`, async () => {
      if (path !== FIRST) env = { ...env, WTS_API_KEY: stack().apiKey };
      const terminal = newTerminal(String(index));
      let text = readFileSync(join(ROOT, path), 'utf8');
      for (const [printed, actual] of addresses) text = text.replaceAll(printed, actual);
      for (const block of blocksOf(path, text)) {
        const printer = printerOf(block);
        if (printer !== null) await runningProgram(printer).prints(block.text);
        else if (isRun(block)) await type(block, terminal);
      }
    });
  }

  it('serves the metrics of every service at the addresses in .local/stack.json', async () => {
    assert.match(runningProgram('npm start').output, /Metrics {9}http:\S+\/metrics \(sync\)/);
    for (const [name, { metrics }] of Object.entries(stack().services)) {
      const text = await (await fetch(metrics ?? '')).text();
      assert.match(text, new RegExp(`wts_build_info{version=".+",commit=".+",service="${name}"(,shard="0")?} 1`));
    }
  });

  it('on a full disk everything stops with one sentence, and after space was freed the next start has all data (skipped where no disk can be mounted)', async function full() {
    if (!place.isDisk) return this.skip();
    const terminal = newTerminal('disk');
    const query = async (text: string): Promise<string> => {
      const body = JSON.stringify({ query: text });
      const headers = { authorization: `Bearer ${stack().apiKey}`, 'content-type': 'application/json' };
      return (await fetch(`${stack().baseUrl}/graphql`, { method: 'POST', headers, body })).text();
    };
    const title = 'Before the disk was full';
    const input = `{workspaceId: "${stack().workspaceId}", title: "${title}"}`;
    assert.match(await query(`mutation { taskCreate(input: ${input}) { success } }`), /"success":true/);

    const start = runningProgram('npm start');
    const before = start.output.length;
    fill(place.pathOf('filler'));
    assert.equal(await start.ends(), 1);
    assert.match(start.output, /The disk of \S+ is full: \d+ MB are free\. Everything stops now/);
    assert.doesNotMatch(start.output.slice(before), /is full[^]*is full|starts again|ENOSPC|at .*\.ts:\d/);

    rmSync(place.pathOf('filler'));
    // As one file each, because the start before has shown that their sources run, and this takes half of its time.
    for (const { name } of SERVICES)
      writeFileSync(join(folder, 'services', name, 'src/main.ts'), `import '${await programOf(name)}';\n`);
    const again = await terminal.start('npm start');
    running.set('npm start', again);
    await again.prints('Ready in 4.2 s.');
    assert.match(await query(`{ tasks(filter: {title: {eq: "${title}"}}) { totalCount } }`), /"totalCount":1/);
    const audit = await terminal.run('npm run verify:log -- --seconds 0.5 --writes 10');
    assert.equal(await audit.ends(), 0, audit.output);
  });

  it('stops everything with Ctrl-C', async () => {
    const start = runningProgram('npm start');
    await start.interrupt();
    assert.match(start.output, /Everything has stopped\.\s*$/);
  });

  function newTerminal(name: string): Terminal {
    const files = join(folder, '..', `terminal-${name}`);
    mkdirSync(files);
    return new Terminal(place, files, env);
  }

  async function type(block: Block, terminal: Terminal): Promise<void> {
    for (const { text, output } of commandsOf(block)) {
      if (runningOf(block) === 'keeps running') {
        const program = await terminal.start(text);
        running.set(text, program);
        await program.prints(output);
        continue;
      }
      const where = `${block.path}:${block.line}: ${text}`;
      const script = block.language === 'sh' ? scriptOf(text) : undefined;
      if (script !== undefined) {
        const usage = USAGES.get(script) ?? assert.fail(`${where}\nis no script with a usage`);
        for (const [option] of text.replace(/ # .*$/, '').matchAll(/(?<= )--[a-z-]+/g))
          assert.ok(usage.includes(`  ${option} `), `${where}\nhas an option that is not in\n${usage}`);
        continue;
      }
      const program = await terminal.run(text);
      assert.equal(await program.ends(), 0, `${where}\n${program.output}`);
      await program.prints(output);
    }
  }

  function runningProgram(command: string): Program {
    const program = running.get(command);
    assert.ok(program, `no block marked "keeps running" has the command: ${command}`);
    return program;
  }
});

function isRun(block: Block): boolean {
  return isTyped(block) && runningOf(block) !== 'not run';
}

/** The script of npm that a command runs, if any. */
function scriptOf(command: string): string | undefined {
  return /\bnpm (?:start|test|run [\w:-]+)/.exec(command)?.[0];
}

function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  const block = Buffer.alloc(1024 * 1024);
  try {
    for (;;) writeSync(descriptor, block);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  } finally {
    closeSync(descriptor);
  }
}
