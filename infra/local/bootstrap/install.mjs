// Installs the locked dependencies with the pinned package manager when they have changed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { takeLock } from './install-lock.mjs';
import { LOCAL, NODE_PACKAGES, ROOT, UserError, SIGNALS, nodeOf, withoutEmptyFolders } from './platform.mjs';

const PNPM = 'pnpm@12.21.0';
const LINES_MAX = 10;
const MARKER = join(ROOT, 'node_modules', '.installed');

/** @param {string} platform */
export async function installWhenNeeded(platform) {
  const wanted = wantedState(platform);
  const installed = () => readText(MARKER) === wanted && existsSync(nodeOf(platform));
  if (installed()) return;
  const lock = await takeLock(join(LOCAL, 'install.lock'), () => {
    console.error('Waiting for another install in this folder');
  });
  try {
    // The previous owner of the lock may have installed everything.
    if (installed()) return;
    // Without the marker the next start repeats an interrupted install.
    rmSync(MARKER, { force: true });
    await install(lock);
    if (!existsSync(nodeOf(platform))) {
      throw new UserError(
        `The install left out ${NODE_PACKAGES[platform]}, the project's own Node.\n` +
          'Remove "optional=false" and "omit=optional" from the settings of npm and pnpm, and start again.',
      );
    }
    writeFileSync(`${MARKER}.new`, wanted);
    renameSync(`${MARKER}.new`, MARKER);
  } finally {
    lock.release();
  }
}

/**
 * A hash of everything that determines the result of an install.
 * @param {string} platform
 */
function wantedState(platform) {
  const hash = createHash('sha256').update(`${PNPM} ${platform}`);
  const folders = ['packages', 'services', 'infra'].flatMap((folder) =>
    existsSync(join(ROOT, folder)) ? readdirSync(join(ROOT, folder)).map((name) => join(folder, name)) : [],
  );
  const manifests = ['.', 'test-e2e', ...folders].map((folder) => join(folder, 'package.json')).sort();
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests])
    hash.update(`\0${file}\0${readText(join(ROOT, file))}`);
  return hash.digest('hex');
}

/**
 * @param {import('./install-lock.mjs').Lock} lock
 * @returns {Promise<void>}
 */
function install(lock) {
  console.error(`Installing dependencies with ${PNPM} (the first time takes about half a minute)`);
  /** @type {string[]} */
  const output = [];
  const progress = showProgress(() => output.join(''));
  return new Promise((resolve, reject) => {
    const args = ['-y', PNPM, 'install', '--frozen-lockfile', '--reporter=append-only'];
    const child = spawn('npx', args, { cwd: ROOT, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    if (child.pid !== undefined) lock.extendTo(child.pid);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (/** @type {string} */ text) => output.push(text));
    const forward = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
    for (const signal of Object.keys(SIGNALS)) process.on(signal, forward);
    const end = () => {
      for (const signal of Object.keys(SIGNALS)) process.removeListener(signal, forward);
      return progress.end();
    };
    child.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      end();
      reject(error.code === 'ENOENT' ? new UserError('npx was not found. Install npm, which comes with Node.') : error);
    });
    child.on('close', (code, signal) => {
      const seconds = end();
      if (code === 0) {
        console.error(`  done in ${seconds} s`);
        resolve();
      } else if (signal !== null || (code ?? 0) > 128) {
        reject(new UserError('The install was interrupted. Start again to repeat it.'));
      } else {
        reject(explained(output.join('')));
      }
    });
  });
}

/**
 * Shows one updated line on a terminal, otherwise a new line every five seconds. On stderr, because the result of a task is on stdout.
 * @param {() => string} output what the package manager has printed so far
 */
function showProgress(output) {
  const since = Date.now();
  const live = process.stderr.isTTY && process.env['TERM'] !== 'dumb';
  const seconds = () => ((Date.now() - since) / 1000).toFixed(0);
  const timer = setInterval(
    () => {
      const last = /.*\nProgress: ([^\n]*)\n/s.exec(`\n${output()}`)?.[1] ?? 'fetching the package manager';
      process.stderr.write(live ? `\r\x1b[2K  ${last}, ${seconds()} s` : `  ${last}, ${seconds()} s\n`);
    },
    live ? 200 : 5000,
  );
  return {
    end: () => {
      clearInterval(timer);
      if (live) process.stderr.write('\r\x1b[2K');
      return seconds();
    },
  };
}

function environment() {
  const env = withoutEmptyFolders(process.env);
  env['PATH'] = [dirname(process.execPath), env['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
  // npm and pnpm must not wait for answers of a user.
  env['npm_config_yes'] = 'true';
  env['pnpm_config_confirm_modules_purge'] = 'false';
  env['npm_config_update_notifier'] = 'false';
  // By default npm waits 10 and 60 s between its three attempts, which without a network is more than a minute.
  env['npm_config_fetch_retry_mintimeout'] ??= '1000';
  env['npm_config_fetch_retry_maxtimeout'] ??= '3000';
  // npm and pnpm store their caches in HOME. A user without a writable HOME (a container with a bare uid) gets one.
  const home = homeOf(env);
  if (home === '' || !isWritable(home)) {
    env['HOME'] = join(LOCAL, 'home');
    mkdirSync(env['HOME'], { recursive: true });
    // npm, when it is the parent process, has set this to the old HOME.
    env['npm_config_cache'] = join(env['HOME'], '.npm');
  }
  return env;
}

/** @param {string} text */
function explained(text) {
  // Leaves out the normal output of npm and pnpm.
  const lines = text
    .split('\n')
    .filter((line) => !/^(Progress|Scope|Packages|\s*$)|^npm error\s+(at |\}|$)/.test(line));
  const tail = lines
    .slice(-LINES_MAX)
    .map((line) => `    ${line}`)
    .join('\n');
  if (/OUTDATED_LOCKFILE|frozen-lockfile/i.test(text)) {
    return new UserError(
      `pnpm-lock.yaml does not match the package.json files. Update it: npx -y ${PNPM} install --no-frozen-lockfile\n${tail}`,
    );
  }
  if (/ENOSPC|No space left/i.test(text))
    return new UserError(`The disk is full. Free about 1 GB and start again.\n${tail}`);
  if (
    /E(NOTFOUND|AI_AGAIN|CONN|TIMEDOUT|NETUNREACH|HOSTUNREACH)|META_FETCH|error sending request|fetch failed|network/i.test(
      text,
    )
  ) {
    return new UserError(
      'The npm registry cannot be reached, and the dependencies are not installed yet. Check the network, HTTPS_PROXY\n' +
        `and "npm config get registry", and start again.\n${tail}`,
    );
  }
  return new UserError(
    tail === ''
      ? `The install failed without a message. To see more, run: npx -y ${PNPM} install`
      : `The install failed:\n${tail}`,
  );
}

/** @param {NodeJS.ProcessEnv} env */
function homeOf(env) {
  try {
    return env['HOME'] ?? userInfo().homedir;
  } catch {
    return '';
  }
}

/** @param {string} directory */
function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
