// The project's Node links to libatomic, which slim systems and containers leave out. On Debian and Ubuntu its package is
// fetched and unpacked below .local: nothing is installed, no root needed.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { aptOptions } from './apt.mjs';
import { LOCAL, Refusal } from './ground.mjs';

const run = promisify(execFile);
const LIBRARY = 'libatomic.so.1';
const PACKAGE = 'libatomic1';
const PACKAGES = join(LOCAL, 'packages');
const FETCH_MS = 60_000;

/**
 * What the project's Node needs in its surroundings so that it runs here.
 * @param {string} node
 * @param {string} [packages] where packages are kept
 * @returns {Promise<{ LD_LIBRARY_PATH?: string }>}
 */
export async function librariesFor(node, packages = PACKAGES) {
  if (process.platform !== 'linux') return {};
  const tree = join(packages, PACKAGE, 'tree');
  if (existsSync(tree)) return searching(tree);
  const { stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  const lacking = /(\S+): cannot open shared object file/.exec(stderr ?? '')?.[1];
  if (lacking === undefined) return {};
  if (lacking !== LIBRARY) {
    throw new Refusal(
      `The project's own Node needs ${lacking}, which this system lacks: install it, then start again.`,
    );
  }
  try {
    await fetchPackage(packages);
    return searching(tree);
  } catch (error) {
    const reason = /** @type {Error} */ (error).message.trim().split('\n').at(-1);
    throw new Refusal(
      `The project's own Node needs ${LIBRARY}, which this system lacks, and it could not be fetched (${reason}).\n` +
        'Install it, then start again: apt-get install libatomic1, dnf install libatomic, or zypper install libatomic1.',
    );
  }
}

/**
 * Complete or not there.
 * @param {string} packages
 */
async function fetchPackage(packages) {
  const debs = join(packages, PACKAGE, `debs-${process.pid}`);
  const partial = join(packages, PACKAGE, `partial-${process.pid}`);
  for (const path of [debs, partial]) mkdirSync(path, { recursive: true });
  try {
    const options = await aptOptions(join(packages, 'apt'));
    await run('apt-get', [...options, '-qq', 'download', PACKAGE], { cwd: debs, timeout: FETCH_MS });
    for (const deb of readdirSync(debs)) await run('dpkg', ['-x', join(debs, deb), partial], { timeout: FETCH_MS });
    // Another start may have been faster.
    const tree = join(packages, PACKAGE, 'tree');
    if (!existsSync(tree)) renameSync(partial, tree);
  } finally {
    for (const path of [debs, partial]) rmSync(path, { recursive: true, force: true });
  }
}

/** @param {string} tree */
function searching(tree) {
  const base = join(tree, 'usr', 'lib');
  const before = process.env['LD_LIBRARY_PATH'] ?? '';
  const folders = readdirSync(base).map((name) => join(base, name));
  return { LD_LIBRARY_PATH: [...folders, ...(before === '' ? [] : [before])].join(delimiter) };
}
