import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { builtProgram, eventually, nodeEnvironment, tokenEnvironment } from '@wts/testkit';
import { NAME } from './demo.ts';

interface Child {
  readonly process: ChildProcess;
  /** Code or signal, once it has ended. */
  readonly ended: Promise<number | string | null>;
  out(): string;
  err(): string;
  lines(): Record<string, unknown>[];
}

const children: ChildProcess[] = [];
let main = '';

/** Runs a program that ends by itself. */
function program(args: readonly string[], env: NodeJS.ProcessEnv = {}, file = main) {
  return spawnSync(process.execPath, [file, ...args], { env: { ...nodeEnvironment(), ...env }, encoding: 'utf8' });
}

/** With `files`, as in a shell that allows no more open files. */
function start(env: Record<string, string> = {}, files?: number): Child {
  const command = [process.execPath, main];
  const limited = files === undefined ? command : ['/bin/sh', '-c', `ulimit -n ${files} && exec "$0" "$@"`, ...command];
  const [program = '', ...args] = limited;
  const child = spawn(program, args, {
    env: { ...nodeEnvironment(), ...tokenEnvironment(NAME), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  children.push(child);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  // Not `close` of the child: it never comes when we disconnect first.
  const ended = Promise.all([once(child, 'exit'), once(child.stdout, 'close'), once(child.stderr, 'close')]).then(
    ([[code, signal]]) => (code as number | null) ?? (signal as string),
  );
  const lines = (): Record<string, unknown>[] =>
    out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { process: child, ended, out: () => out, err: () => err, lines };
}

async function listening(child: Child): Promise<string> {
  const [message] = (await once(child.process, 'message')) as [{ listening: string }];
  return message.listening;
}

describe('the process of a service', () => {
  before(async () => (main = await builtProgram(join(import.meta.dirname, 'main.ts'))));
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  for (const [signal, host, words] of [
    ['SIGTERM', '127.0.0.1', /^this machine only; HOST=0\.0\.0\.0 /],
    ['SIGINT', '0.0.0.0', /^other machines too; .* expect a private one$/],
  ] as const) {
    it(`reports its address to its parent, and in the log with its version, its commit, and who can reach ${host}, and stops cleanly on ${signal}, with all lines of its log`, async () => {
      const child = start({ HOST: host, BUILD_VERSION: '7.8.9', BUILD_COMMIT: 'abc123' });
      const { port } = new URL(await listening(child));
      assert.equal((await fetch(`http://127.0.0.1:${port}/open`)).status, 200);
      const line = await eventually(() => child.lines().find(({ msg }) => msg === 'listening'));
      assert.deepEqual([line.host, String(line.port), line.version, line.commit], [host, port, '7.8.9', 'abc123']);
      assert.match(String(line.reachableFrom), words);
      child.process.kill(signal);
      assert.equal(await child.ended, 0);
      const messages = child.lines().flatMap(({ msg }) => (msg === 'request' ? [] : [msg]));
      assert.deepEqual(messages, ['listening', 'stopping', 'draining', 'stopped']);
    });
  }

  it('prints its version and commit with --version, and without any setting', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')) as {
      version: string;
    };
    assert.equal(program(['--version']).stdout, `${NAME} ${version} (unknown)\n`);
  });

  it('with check-config prints ok, or every fault with which it would not start', () => {
    const good = program(['check-config'], tokenEnvironment(NAME));
    assert.deepEqual([good.status, good.stdout, good.stderr], [0, 'ok\n', '']);
    const wrong = program(['check-config'], { LOG_LEVEL: 'loud', METRICS_PORT: '-1' });
    assert.equal(wrong.status, 1);
    assert.match(wrong.stderr, /3 faults:[^]*METRICS_PORT[^]*LOG_LEVEL[^]*INTERNAL_TOKEN_PUBLIC_KEYS/);
  });

  it('with healthcheck exits with 0 while it serves, and with 1 and a sentence otherwise', async () => {
    const child = start();
    const { port } = new URL(await listening(child));
    assert.equal(program(['healthcheck', 'live'], { PORT: port }).status, 0);
    child.process.kill('SIGKILL');
    await child.ended;
    const { status, stderr } = program(['healthcheck'], { PORT: port });
    assert.equal(status, 1);
    assert.match(stderr, /^http:\/\/127\.0\.0\.1:\d+\/ready does not answer: .*\n$/);
  });

  it('with arguments that it does not know prints a sentence and exits with 2 [installation.arguments]', () => {
    const { status, stdout, stderr } = program(['migrate', '--force']);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /^There are no arguments "migrate --force"\. .*migrate --check.*\n$/);
  });

  it('without a schema of its own has no migrations, and exits with 2', () => {
    const { status, stderr } = program(
      ['migrate'],
      {},
      join(import.meta.dirname, '../../../services/agent/src/main.ts'),
    );
    assert.deepEqual([status, stderr], [2, 'This service has no schema of its own, so it has no migrations.\n']);
  });

  it('exits immediately on a second signal', async () => {
    const child = start({ MISHAP: 'never stops' });
    await listening(child);
    child.process.kill('SIGTERM');
    await eventually(() => child.out().includes('draining'));
    child.process.kill('SIGTERM');
    assert.equal(await child.ended, 130);
  });

  it('stops when its supervisor is gone, if it has one, and outlives its parent otherwise', async () => {
    const [child, other] = [start({ WTS_SUPERVISED: '1' }), start()];
    const [, url] = await Promise.all([listening(child), listening(other)]);
    for (const one of [child, other]) one.process.disconnect();
    assert.equal(await child.ended, 0);
    assert.equal((await fetch(`${url}/open`)).status, 200);
    assert.equal(other.process.exitCode, null);
  });

  it('with a wrong configuration prints every fault in one message and exits with 1', async () => {
    const child = start({ INTERNAL_TOKEN_PUBLIC_KEYS: 'short', LOG_LEVEL: 'loud', METRICS_PORT: '-1' });
    assert.equal(await child.ended, 1);
    assert.equal(child.out(), '');
    for (const variable of ['INTERNAL_TOKEN_PUBLIC_KEYS', 'LOG_LEVEL', 'METRICS_PORT'])
      assert.match(child.err(), new RegExp(variable));
    assert.ok(!child.err().includes('    at '), 'an operator needs no stack');
  });

  it('whose port is taken prints one sentence and exits with 1', async () => {
    const child = start({ MISHAP: 'port taken' });
    assert.equal(await child.ended, 1);
    assert.match(child.err(), /^sync did not start\. Port \d+ on 127\.0\.0\.1 is taken; choose another one\.\n$/);
  });

  it('that may open too few files prints which limit to raise, and exits with 1', async () => {
    const child = start({}, 200);
    assert.equal(await child.ended, 1);
    assert.match(child.err(), /^sync did not start\. This process may open 200 files.*ulimit -n/);
    assert.equal(child.err().trimEnd().split('\n').length, 1);
  });

  it('that may open few files accepts fewer connections, and logs it', async () => {
    const child = start({}, 1024);
    await listening(child);
    const line = await eventually(() => child.lines().find(({ level }) => level === 'warn'));
    assert.deepEqual([line['filesMax'], Number(line['connectionsMax']) < 1024], [1024, true]);
    assert.match(String(line['msg']), /ulimit -n/);
  });

  it('with a bug at the start prints its stack without secrets, and exits with 1', async () => {
    const child = start({ MISHAP: 'bug at start' });
    assert.equal(await child.ended, 1);
    assert.match(child.err(), /TypeError[^]*main\.ts/);
    assert.ok(!child.err().includes('hunter2'));
  });

  it('with a bug later logs it without secrets, after all lines before it, and exits with 1', async () => {
    const child = start({ MISHAP: 'bug later' });
    assert.equal(await child.ended, 1);
    const lines = child.lines();
    assert.deepEqual(lines.map(({ level, msg }) => `${String(level)} ${String(msg)}`).sort(), [
      'fatal a bug ended this process',
      'info listening',
    ]);
    assert.match(child.out(), /main\.ts/);
    assert.ok(!child.out().includes('hunter2'));
  });
});
