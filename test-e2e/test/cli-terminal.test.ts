import { Terminal, type TerminalOptions } from '@wts/cli/test-terminal';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { Machine } from './cli-login.ts';
import { cliPerson, type CliPerson } from './cli-person.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
/** What takes a bar of progress away. */
const CLEAR = '\r\u001b[2K';

describe('the command line at a real terminal', function cliTerminal() {
  this.timeout(60_000);
  let tool: CliPerson;
  /** Folders of tests may be where the system runs no programs, as in some containers. */
  let programs: string;

  before(async () => {
    programs = mkdtempSync(join(tmpdir(), 'wts-programs-'));
    tool = await cliPerson('Typist');
  });
  after(() => rmSync(programs, { recursive: true }));

  const open = (argv: readonly string[], { env, ...options }: TerminalOptions = {}): Terminal => {
    const { folder, token, urlKey } = tool;
    const own = { WTS_URL: tool.testSystem.baseUrl, WTS_TOKEN: token, WTS_WORKSPACE: urlKey, WTS_CONFIG_DIR: folder };
    return new Terminal(argv, { cwd: folder, columns: 120, ...options, env: { ...own, ...env } });
  };
  /** What a command prints that ends by itself. */
  const shown = async (argv: readonly string[], options?: TerminalOptions): Promise<string> => {
    using terminal = open(argv, options);
    const { code, text } = await terminal.end();
    assert.equal(code, 0, text);
    return text;
  };
  /** A program of the person, which gets a path or an address. */
  const program = (name: string, script: string): string => {
    const path = join(programs, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return path;
  };

  it('opens the browser, shows the address as one link, and says who is signed in', async () => {
    const machine = new Machine(tool.testSystem);
    const file = join(machine.folder, 'opened');
    const env = { ...machine.env, BROWSER: program('browser', `echo "$1" > '${file}'`), VTE_VERSION: '7200' };
    using terminal = new Terminal(['login', tool.testSystem.baseUrl], { env, columns: 60 });
    const address = await eventually(() =>
      existsSync(file) ? /^(\S+)\n$/.exec(readFileSync(file, 'utf8'))?.[1] : undefined,
    );
    // What the browser program wrote may be seen before the text of the terminal.
    await eventually(() => terminal.text.includes(`\u001b]8;;${address}\u001b\\${address}\u001b]8;;\u001b\\`));
    const { to } = await machine.answer(new URL(address), { access: 'full-access' });
    await (await fetch(to!)).text();
    const { code, text } = await terminal.end();
    assert.deepEqual([code, /Signed in +Demo Owner <.*>\n/.test(stripVTControlCharacters(text))], [0, true], text);
    assert.equal((await machine.wts(['logout'])).code, 0);
  });

  it('adds a first task, also by the editor, and lists both in a table that fits', async () => {
    const title = `Write ${'a long report '.repeat(5).trim()}`;
    assert.match(await shown(['task', 'add', title, '--due', 'today']), new RegExp(`^Created ${tool.KEY}-1 Write`));
    const editor = program('editor', 'printf "From the editor\\n\\nWith a text.\\n" > "$1"');
    assert.match(await shown(['task', 'add'], { env: { EDITOR: editor } }), /^Created \S+ From the editor\n/);
    const table = await shown(['task', 'list'], { columns: 60 });
    assert.ok(table.startsWith('\u001b[2mKEY'), table);
    const lines = stripVTControlCharacters(table).trimEnd().split('\n');
    assert.deepEqual([lines.length, lines.filter((line) => line.length > 60)], [3, []]);
    assert.match(lines[2] ?? '', /Write a long.*…/);
    assert.equal(
      await shown(['task', 'list', '--json', 'number'], { rows: 2 }),
      '[\n  {\n    "number": 2\n  },\n  {\n    "number": 1\n  }\n]\n',
    );
  });

  it('asks before it deletes for good: another text, the end of the input and Ctrl-C all keep the task', async () => {
    const id = (await tool.ok('task', 'add', 'To delete', '-q')).trim();
    const { number } = JSON.parse(await tool.ok('task', id, '--json', 'number')) as { number: number };
    const key = `${tool.KEY}-${number}`;
    for (const [keys, code] of [
      ['yes\r', 2],
      [CTRL_D, 2],
      [CTRL_C, 130],
      [`${key}\r`, 0],
    ] as const) {
      assert.equal((await tool.wts(['task', id])).code, 0);
      using terminal = open(['task', 'delete', id]);
      await terminal.until(new RegExp(`Type ${key} to confirm: $`));
      terminal.type(keys);
      const { code: ended, text } = await terminal.end();
      assert.equal(ended, code, text);
    }
    assert.equal((await tool.wts(['task', id])).code, 5);
  });

  it('shows each change as it happens, until Ctrl-C [cli.exit.ends]', async () => {
    using terminal = open(['watch']);
    await terminal.until(/Watching .*Ctrl-C ends it\.\n/);
    await tool.ok('task', 'add', 'Seen \u001b]52;c;x\u0007 by a watch');
    await terminal.until(/Seen ␛\]52;c;x␇ by a watch +created\n/);
    terminal.type(CTRL_C);
    const { code, text } = await terminal.end();
    assert.equal(code, 130);
    assert.match(stripVTControlCharacters(text), /\^CInterrupted\.\n$/);
  });

  it('exports and imports with a bar that is gone at the end, or lines where a screen reader is used', async () => {
    const exported = await shown(['export', tool.urlKey, '--to', 'export']);
    assert.ok(exported.includes(`${CLEAR}read: `), exported);
    const [result = ''] = exported.split(CLEAR).slice(-1);
    assert.match(stripVTControlCharacters(result), /^\S*export\nWorkspace +Of Typist/m);
    const argv = ['import', 'export', '--new', 'Copy', '--key', `copy-${randomUUID().slice(0, 8)}`];
    const imported = await shown([...argv], { columns: 200 });
    assert.match(stripVTControlCharacters(imported), /SHA-256 +[0-9a-f]{64} \(as the export\)/);
    assert.ok(!(await shown([...argv, '--accessible'])).includes(CLEAR));
  });
});
