#!/usr/bin/env node
// The entry point of npm start, test, check and so on. It needs only Node 18 and npm: it installs the locked dependencies
// when they changed, and then runs the task with the project's own Node, which is one of them.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL, NODE_PACKAGES, ROOT, UserError, SIGNALS, nodeOf, withoutEmptyFolders } from './bootstrap/platform.mjs';
import { installWhenNeeded } from './bootstrap/install.mjs';
import { librariesFor } from './bootstrap/libraries.mjs';
import { scriptOf } from './bootstrap/tasks.mjs';

const NODE_MAJOR_MIN = 18;

main().then(
  (code) => process.exit(code),
  (/** @type {unknown} */ error) => {
    console.error(error instanceof UserError ? `\n${error.message}\n` : error);
    process.exit(1);
  },
);

async function main() {
  const [task = '', ...args] = process.argv.slice(2);
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
    throw new UserError(
      `This is Node ${process.versions.node}, but ${NODE_MAJOR_MIN} or newer is needed to install the rest.\n` +
        'Download Node from https://nodejs.org.',
    );
  }
  const platform = `${process.platform}-${process.arch}`;
  if (NODE_PACKAGES[platform] === undefined) {
    const windows = process.platform === 'win32' ? '\nOn Windows, run it inside WSL 2.' : '';
    const supported = Object.keys(NODE_PACKAGES).join(', ');
    throw new UserError(`${platform} is not supported. Supported platforms: ${supported}.${windows}`);
  }
  const script = scriptOf(task);
  prepareLocal();
  await installWhenNeeded(platform);
  const node = nodeOf(platform);
  return runTask(node, script, args, await librariesFor(node));
}

function prepareLocal() {
  try {
    mkdirSync(LOCAL, { recursive: true });
    accessSync(LOCAL, constants.W_OK);
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ENOSPC') throw new UserError(`The disk of ${ROOT} is full. Free about 1 GB and start again.`);
    throw new UserError(`${LOCAL} is not writable (${code}). Start as the user who owns this folder.`);
  }
}

/**
 * @param {string} node
 * @param {string} script
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} libraries
 * @returns {Promise<number>} exit code
 */
function runTask(node, script, args, libraries) {
  return new Promise((resolve, reject) => {
    // By paths relative to the cache, so that a copy of the repository with a link to it uses it too.
    const compiled = { NODE_COMPILE_CACHE: join(LOCAL, 'compile-cache'), NODE_COMPILE_CACHE_PORTABLE: '1' };
    const env = { ...withoutEmptyFolders(process.env), ...libraries, ...compiled };
    // The IPC channel closes when this process ends, even by SIGKILL; then the task stops.
    const child = spawn(node, [script, ...args], { cwd: ROOT, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
    for (const signal of /** @type {NodeJS.Signals[]} */ (Object.keys(SIGNALS)))
      process.on(signal, () => child.kill(signal));
    watchParent(() => child.kill('SIGTERM'));
    child.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      const isLoaderMissing = error.code === 'ENOENT' && existsSync(node);
      const text = `The project's own Node (${node}) does not run here. It needs glibc 2.28 or newer, which Alpine and other musl systems lack.`;
      reject(isLoaderMissing ? new UserError(text) : error);
    });
    child.on('exit', (code, signal) => resolve(code ?? 128 + (SIGNALS[signal ?? ''] ?? 9)));
  });
}

/**
 * A killed npm does not end its children, so this process watches whether its parent is still npm.
 * @param {() => void} stop
 */
function watchParent(stop) {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, 250).unref();
}
