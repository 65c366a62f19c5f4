#!/usr/bin/env node
// The way in: npm start, test, check, ... all begin here. Needs nothing but Node 18 and npm: it installs the locked
// dependencies when they changed and hands over to the project's own Node, which came with them.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL, NODE_PACKAGES, ROOT, Refusal, SIGNALS, nodeOf, withoutEmptyFolders } from './bootstrap/ground.mjs';
import { installWhenNeeded } from './bootstrap/install.mjs';
import { librariesFor } from './bootstrap/libraries.mjs';

const NODE_MAJOR_MIN = 18;
/**
 * Tasks that live elsewhere; every other task is a file of infra/local/src.
 * @type {Record<string, string>}
 */
const TASKS = {
  bench: 'infra/bench/src/main.ts',
  fuzz: 'test-e2e/fuzz/main.ts',
  soak: 'infra/verify/src/soak/main.ts',
  storm: 'infra/verify/src/storm/main.ts',
  'verify-log': 'infra/verify/src/main.ts',
};

main().then(
  (code) => process.exit(code),
  (/** @type {unknown} */ error) => {
    console.error(error instanceof Refusal ? `\n${error.message}\n` : error);
    process.exit(1);
  },
);

async function main() {
  const [task = '', ...args] = process.argv.slice(2);
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
    throw new Refusal(
      `This is Node ${process.versions.node}; ${NODE_MAJOR_MIN} or newer is needed to begin (the rest is brought along).\n` +
        'Get it from https://nodejs.org.',
    );
  }
  const platform = `${process.platform}-${process.arch}`;
  if (NODE_PACKAGES[platform] === undefined) {
    const windows = process.platform === 'win32' ? '\nOn Windows it runs inside WSL 2.' : '';
    throw new Refusal(`${platform} is not supported: it runs on ${Object.keys(NODE_PACKAGES).join(', ')}.${windows}`);
  }
  const script = scriptOf(task);
  prepareLocal();
  await installWhenNeeded(platform);
  const node = nodeOf(platform);
  return handOver(node, script, args, await librariesFor(node));
}

/** @param {string} task */
function scriptOf(task) {
  const file = join(ROOT, TASKS[task] ?? `infra/local/src/${task}.ts`);
  if (/^[a-z][a-z-]*$/.test(task) && existsSync(file)) return file;
  throw new Refusal(`There is no task "${task}". The tasks are the scripts of package.json; "npm run" lists them.`);
}

function prepareLocal() {
  try {
    mkdirSync(LOCAL, { recursive: true });
    accessSync(LOCAL, constants.W_OK);
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ENOSPC') throw new Refusal(`The disk that holds ${ROOT} is full: free about 1 GB and start again.`);
    throw new Refusal(`${LOCAL} is not writable (${code}). Start as the user who owns the folder.`);
  }
}

/**
 * @param {string} node
 * @param {string} script
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} libraries
 * @returns {Promise<number>} exit code
 */
function handOver(node, script, args, libraries) {
  return new Promise((resolve, reject) => {
    const env = { ...withoutEmptyFolders(process.env), ...libraries, NODE_COMPILE_CACHE: join(LOCAL, 'compile-cache') };
    // The channel tells the task when this process is gone, even by SIGKILL.
    const child = spawn(node, [script, ...args], { cwd: ROOT, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
    for (const signal of /** @type {NodeJS.Signals[]} */ (Object.keys(SIGNALS))) {
      process.on(signal, () => child.kill(signal));
    }
    watchStarter(() => child.kill('SIGTERM'));
    child.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      const loader = error.code === 'ENOENT' && existsSync(node);
      const sentence = `The project's own Node does not run on this system: it needs glibc 2.28 or newer, which Alpine and other musl systems do not have (${node}).`;
      reject(loader ? new Refusal(sentence) : error);
    });
    child.on('exit', (code, signal) => resolve(code ?? 128 + (SIGNALS[signal ?? ''] ?? 9)));
  });
}

/**
 * npm that is killed takes nobody along: when it started us and is gone, so are we.
 * @param {() => void} stop
 */
function watchStarter(stop) {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const starter = process.ppid;
  setInterval(() => {
    if (process.ppid !== starter) stop();
  }, 250).unref();
}
