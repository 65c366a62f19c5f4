import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { takeLock } from '../bootstrap/install-lock.mjs';
import { tryLock } from '../bootstrap/lock.mjs';
import { identityOf, isAlive } from '../src/processes/identity.ts';
import type { ProcessIdentity } from '../src/processes/identity.ts';
import { launch } from '../src/processes/launch.ts';
import { endLeftovers } from '../src/processes/leftovers.ts';
import { isFree, whoListens } from '../src/processes/ports.ts';
import { choosePorts } from '../src/public-ports.ts';
import { scratch } from './scratch.ts';
import { until } from './until.ts';

const sleeper = (directory: string, name = 'sleeper') =>
  launch({
    name,
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1000)'],
    env: {},
    log: join(directory, 'log'),
    records: join(directory, 'run'),
  });

/** A pid of the past: no process has it now. */
async function deadOwner() {
  const child = spawn(process.execPath, ['-e', '']);
  const identity = identityOf(child.pid ?? 0);
  await once(child, 'exit');
  return identity ?? { pid: child.pid ?? 0, startMark: 'gone' };
}

describe('processes', () => {
  it('tells a process from a later one with the same pid', () => {
    const own = identityOf(process.pid);
    ok(own !== null);
    equal(isAlive(own), true);
    equal(isAlive({ ...own, startMark: 'another' }), false);
    equal(identityOf(2 ** 22 + 1), null);
  });

  it('take their children along when they are killed, with what was theirs alone', async () => {
    const directory = scratch();
    const swept = join(directory, 'swept');
    const parent = spawn(process.execPath, [join(import.meta.dirname, 'doomed-parent.ts'), swept], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const child = identityOf(Number(line.toString()));
    ok(child !== null && existsSync(swept));
    parent.kill('SIGKILL');
    await until('the child is gone', () => !isAlive(child));
    await until('the directory is gone', () => !existsSync(swept));
  });

  it('that a killed launcher left are ended by the next start, paused ones too, and nobody else', async () => {
    const directory = scratch();
    const left = await sleeper(directory);
    const paused = await sleeper(directory, 'paused');
    paused.signal('SIGSTOP');
    const records = join(directory, 'run');
    const stranger = { name: 'stranger', pid: process.pid, startMark: 'of another life' };
    writeFileSync(join(records, 'stranger.json'), JSON.stringify(stranger));
    writeFileSync(join(records, 'half.json'), '{"pid": 1');
    deepEqual((await endLeftovers(records)).sort(), ['paused', 'sleeper']);
    await Promise.all([left.exited, paused.exited]);
    equal(existsSync(records), false);
  });

  it('keep a record while they run, and only then', async () => {
    const directory = scratch();
    const running = await sleeper(directory);
    const record = join(directory, 'run', 'sleeper.json');
    deepEqual(JSON.parse(readFileSync(record, 'utf8')), { name: 'sleeper', ...identityOf(running.pid) });
    await running.stop('SIGTERM', 5_000);
    equal(existsSync(record), false);
  });

  it('are killed when they do not stop in time', async () => {
    const directory = scratch();
    const stubborn = await launch({
      name: 'stubborn',
      command: process.execPath,
      args: ['-e', 'process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)'],
      env: {},
      log: join(directory, 'log'),
    });
    await until('it runs', () => readFileSync(stubborn.log, 'utf8').includes('up'));
    deepEqual(await stubborn.stop('SIGTERM', 50), { code: null, signal: 'SIGKILL' });
  });
});

describe('a local stack', () => {
  it('belongs to one process, and to the next when that is dead', async () => {
    const lock = join(scratch(), 'lock');
    const own = identityOf(process.pid);
    ok(own !== null);
    const isDead = (owner: ProcessIdentity) => !isAlive(owner);
    equal(tryLock(lock, own, isDead), null);
    deepEqual(tryLock(lock, own, isDead), own);
    writeFileSync(lock, JSON.stringify(await deadOwner()));
    equal(tryLock(lock, own, isDead), null);
    rmSync(lock);
    deepEqual(readdirSync(join(lock, '..')), []);
  });
});

describe('the lock of an install', () => {
  it('lets one in at a time and passes on when the owner is dead', async () => {
    const lock = join(scratch(), 'install.lock');
    const owner = await deadOwner();
    writeFileSync(lock, JSON.stringify({ pids: [owner.pid], sinceMs: Date.now() }));
    let waited = false;
    const first = await takeLock(lock, () => {
      waited = true;
    });
    equal(waited, false);
    let second = false;
    const next = takeLock(lock, () => {
      waited = true;
    }).then((lock) => {
      second = true;
      return lock;
    });
    await until('the second says that it waits', () => waited);
    equal(second, false);
    first.release();
    (await next).release();
    equal(existsSync(lock), false);
  });
});

describe('public ports', () => {
  const taken = createServer();
  let port = 0;
  before(async () => {
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    ({ port } = taken.address() as AddressInfo);
  });
  after(() => {
    taken.close();
  });

  it('that were asked for and are taken are refused with who has them and what to do', async () => {
    equal(await isFree(port), false);
    match(whoListens(port) ?? '', new RegExp(`process ${process.pid}`));
    await rejects(choosePorts({ PORT: String(port) }), {
      name: 'Refusal',
      message: new RegExp(`Port ${port} \\(PORT\\) is in use by .*process ${process.pid}[^]*PORT=`),
    });
  });

  it('that are only defaults make way for who is there, and it is said', async () => {
    const holder = createServer().on('error', () => {});
    // Taken by us, or already by a system that runs beside the tests: both will do.
    await new Promise<void>((resolve) => {
      holder.once('listening', resolve).once('error', () => resolve());
      holder.listen(4000, '127.0.0.1');
    });
    const chosen = await choosePorts({});
    ok(chosen.api > 4000 && chosen.auth !== chosen.api);
    match(chosen.remarks.join(' '), /Port 4000 is in use by .*: the API is at \d+ instead/);
    holder.close();
  });

  for (const wrong of ['x', '0', '65536', '1.5', '-1']) {
    it(`are numbers: ${wrong} is refused`, async () => {
      await rejects(choosePorts({ PORT: wrong }), { name: 'Refusal', message: /is not a port/ });
    });
  }
});
