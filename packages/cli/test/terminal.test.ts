import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { scratch } from './scratch.ts';
import { Terminal, WTS, type TerminalOptions } from './terminal.ts';
import { runWts } from './test-run.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

describe('the program at a real terminal', () => {
  const folder = scratch('terminal');
  let url: string;
  /** Says who it is, and else nothing. */
  const server = createServer((request, response) => {
    if (request.url !== '/.well-known/oauth-protected-resource') return;
    response.end(JSON.stringify({ resource: url, authorization_servers: [url] }));
  });
  let env: Readonly<Record<string, string>>;
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    env = { WTS_CONFIG_DIR: folder, HOME: folder, WTS_URL: url, WTS_TOKEN: 'wts_x' };
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = (argv: readonly string[], options: TerminalOptions = {}): Terminal =>
    new Terminal(argv, { ...options, env: { ...env, ...options.env } });
  const written = async (argv: readonly string[], options?: TerminalOptions): Promise<string> => {
    using terminal = open(argv, options);
    const { code, text } = await terminal.end();
    assert.equal(code, 0, text);
    return text;
  };

  it('colors its help', async () => assert.ok((await written(['--help'], { rows: 200 })).includes('\u001b[1m')));

  it('shows in a pager what is longer than the terminal, and without one as it is', async () => {
    const more = { PAGER: 'sed "s/^/paged: /"' };
    assert.match(await written(['--help'], { rows: 10, env: more }), /^paged: Tasks of a Workspace/);
    using quit = open(['--help'], { rows: 10, env: { PAGER: 'head -n 1' } });
    assert.equal((await quit.end()).code, 0);
    // A system without less.
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    for (const name of ['sh', 'stty']) symlinkSync(`/bin/${name}`, join(bin, name));
    assert.match(await written(['--help'], { rows: 10, env: { PATH: bin } }), /^Tasks of a Workspace/);
    assert.match(await written(['--help'], { rows: 10, env: { PAGER: 'wts-missing' } }), /not found\nTasks of a/);
  });

  it('leaves Ctrl-C to a pager, as less, which does not end by it', async () => {
    const pager = join(folder, 'pager');
    const script = '#!/bin/sh\ntrap "" INT\ncat > /dev/null\necho shown\nread key < /dev/tty\necho "ended by $key"\n';
    writeFileSync(pager, script, { mode: 0o755 });
    using terminal = open(['--help'], { rows: 10, env: { PAGER: pager } });
    await terminal.until(/shown/);
    terminal.type(`${CTRL_C}q\r`);
    const { code, text } = await terminal.end();
    assert.deepEqual([code, text], [0, 'shown\n^Cq\nended by q\n']);
  });

  it('ends with one line and 130 at Ctrl-C while no answer comes', async () => {
    using terminal = open(['whoami']);
    await terminal.until(/Waiting for 127\.0\.0\.1/);
    terminal.type(CTRL_C);
    const { code, text } = await terminal.end();
    assert.deepEqual([code, text.split('\n').slice(1)], [130, ['^C\u001b[31mInterrupted.\u001b[39m', '']]);
  });

  for (const [shell, ...argv] of [
    ['bash', '--noprofile', '--norc', '-i'],
    ['zsh', '-f', '-i'],
    ['fish', '--no-config', '-i'],
  ] as const)
    it(`completes at the key Tab in ${shell} (skipped where it is not installed)`, async function complete() {
      if (spawnSync(shell, ['--version']).error !== undefined) this.skip();
      const script = join(folder, `completion.${shell}`);
      writeFileSync(script, (await runWts(['completion', shell])).out);
      const body = WTS.map((word) => `'${word}'`).join(' ');
      const lines = {
        bash: [`wts() { ${body} "$@"; }`, `. '${script}'`],
        zsh: [`autoload -Uz compinit; compinit -u -d '${folder}/zcompdump'`, `wts() { ${body} "$@" }`, `. '${script}'`],
        fish: [`function wts; ${body} $argv; end`, `source '${script}'`],
      }[shell];
      using terminal = new Terminal(argv, { program: [shell], env: { ...env, PS1: '> ' } });
      for (const line of [...lines, 'echo rea""dy']) terminal.type(`${line}\r`);
      await terminal.until(/^ready/m);
      terminal.type('wts help exit-co\t\r');
      await terminal.until(/130 +Ctrl-C/);
      terminal.type('exit 0\r');
      assert.equal((await terminal.end()).code, 0);
    });

  it('reads a secret without an echo, which Ctrl-C and Ctrl-D cancel', async () => {
    for (const [keys, expected] of [
      [`hidden${CTRL_C}`, 130],
      [CTRL_D, 2],
    ] as const) {
      using terminal = open(['login', '--with-token', '--credential-store=file']);
      await terminal.until(/API key: /);
      terminal.type(keys);
      const { code, text } = await terminal.end();
      assert.ok(!text.includes('hidden'));
      assert.equal(code, expected, text);
    }
  });
});
