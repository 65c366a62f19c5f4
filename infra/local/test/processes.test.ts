import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { takeLock } from '../bootstrap/install-lock.mjs';
import { tryLock } from '../bootstrap/lock.mjs';
import { identityOf, isAlive, type ProcessIdentity } from '../src/processes/identity.ts';
import { launch } from '../src/processes/launch.ts';
import { endLeftovers } from '../src/processes/leftovers.ts';
import { refuseFewFiles } from '../src/processes/open-files.ts';
import { describeListener, freePort, isFree, nextFreePort } from '../src/processes/ports.ts';
import { choosePorts } from '../src/public-ports.ts';
import { scratch } from './scratch.ts';
import { until } from './until.ts';

const idleProcess = (directory: string, name = 'idle') =>
  launch({
    name,
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1000)'],
    env: {},
    log: join(directory, 'log'),
    records: join(directory, 'run'),
  });

/** The identity of a process that has exited. */
async function deadOwner() {
  const child = spawn(process.execPath, ['-e', '']);
  const identity = identityOf(child.pid ?? 0);
  await once(child, 'exit');
  return identity ?? { pid: child.pid ?? 0, startMark: 'gone' };
}

describe('the limit of open files', () => {
  it('stops the start when it is too small, with the number that is needed and the command', () => {
    throws(() => refuseFewFiles(256), { name: 'UserError', message: /256 files[^]*388 are needed[^]*ulimit -n 4096/ });
    refuseFewFiles(388);
    refuseFewFiles();
  });
});

describe('processes', () => {
  it('are distinguished from later ones with the same pid', () => {
    const own = identityOf(process.pid);
    ok(own !== null);
    equal(isAlive(own), true);
    equal(isAlive({ ...own, startMark: 'another' }), false);
    equal(identityOf(2 ** 22 + 1), null);
  });

  it('that are killed do not leave their children or temporary directories', async () => {
    const directory = scratch();
    const swept = join(directory, 'swept');
    const parent = spawn(process.execPath, [join(import.meta.dirname, 'killed-parent.ts'), swept], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const child = identityOf(Number(line.toString()));
    ok(child !== null && existsSync(swept));
    parent.kill('SIGKILL');
    await until('the child has exited', () => !isAlive(child));
    await until('the directory is removed', () => !existsSync(swept));
  });

  it('that a killed launcher left are ended by the next start, also paused ones, and no others', async () => {
    const directory = scratch();
    const left = await idleProcess(directory);
    const paused = await idleProcess(directory, 'paused');
    paused.signal('SIGSTOP');
    const records = join(directory, 'run');
    const other = { name: 'other', pid: process.pid, startMark: 'of an earlier process' };
    writeFileSync(join(records, 'other.json'), JSON.stringify(other));
    writeFileSync(join(records, 'half.json'), '{"pid": 1');
    deepEqual((await endLeftovers(records)).sort(), ['idle', 'paused']);
    await Promise.all([left.exited, paused.exited]);
    equal(existsSync(records), false);
  });

  it('have a record only while they run', async () => {
    const directory = scratch();
    const running = await idleProcess(directory);
    const record = join(directory, 'run', 'idle.json');
    deepEqual(JSON.parse(readFileSync(record, 'utf8')), { name: 'idle', ...identityOf(running.pid) });
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
  it('belongs to one process at a time, and to the next after it has exited', async () => {
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
  it('has one owner at a time, and the next one after the owner has exited', async () => {
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
    await until('the second install waits', () => waited);
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
  after(() => taken.close());

  it('that are configured and in use are an error, which names the program and what to do', async () => {
    equal(await isFree(port), false);
    match(describeListener(port) ?? '', new RegExp(`process ${process.pid}`));
    await rejects(choosePorts({ PORT: String(port) }), {
      name: 'UserError',
      message: new RegExp(`Port ${port} \\(PORT\\) is in use by .*process ${process.pid}[^]*PORT=`),
    });
  });

  it('that are defaults and in use are replaced, with a message', async () => {
    const holder = createServer().on('error', () => {});
    // This test uses the port, or another running system already does.
    await new Promise<void>((resolve) => {
      holder.once('listening', resolve).once('error', () => resolve());
      holder.listen(4000, '127.0.0.1');
    });
    const chosen = await choosePorts({});
    ok(chosen.api > 4000 && chosen.auth !== chosen.api);
    match(chosen.remarks.join(' '), /Port 4000 is in use by .*, so the API uses port \d+/);
    holder.close();
  });

  it('are others for a start at the same time, and free again after it', async () => {
    const script = `const { nextFreePort } = await import('../src/processes/ports.ts');
      console.log(await nextFreePort(Number(process.argv[1])));`;
    const from = await freePort();
    const ours = await nextFreePort(from);
    const ofAnotherStart = (): string =>
      execFileSync(process.execPath, ['-e', script, String(from)], { encoding: 'utf8', cwd: import.meta.dirname });
    const theirs = ofAnotherStart();
    deepEqual([ours, Number(theirs) > from, ofAnotherStart()], [from, true, theirs]);
  });

  for (const wrong of ['x', '0', '65536', '1.5', '-1']) {
    it(`are numbers: ${wrong} is refused`, () =>
      rejects(choosePorts({ PORT: wrong }), { name: 'UserError', message: /is not a port/ }));
  }
});
