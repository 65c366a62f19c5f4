// The project's own Node needs libatomic, which slim systems and containers lack. On Debian and Ubuntu this downloads the
// package and unpacks it below .local, without installing it and without root.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { aptOptions } from './apt.mjs';
import { LOCAL, UserError } from './platform.mjs';

const run = promisify(execFile);
const LIBRARY = 'libatomic.so.1';
const PACKAGE = 'libatomic1';
const PACKAGES = join(LOCAL, 'packages');
const FETCH_MS = 60_000;

/**
 * The environment variables that the project's own Node needs on this system.
 * @param {string} node
 * @param {string} [packages] the folder for unpacked packages
 * @returns {Promise<{ LD_LIBRARY_PATH?: string }>}
 */
export async function librariesFor(node, packages = PACKAGES) {
  if (process.platform !== 'linux') return {};
  const tree = join(packages, PACKAGE, 'tree');
  if (existsSync(tree)) return searchPath(tree);
  const { stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  const missing = /(\S+): cannot open shared object file/.exec(stderr ?? '')?.[1];
  if (missing === undefined) return {};
  if (missing !== LIBRARY) {
    throw new UserError(
      `The project's own Node needs ${missing}, which this system lacks. Install it and start again.`,
    );
  }
  try {
    await fetchPackage(packages);
    return searchPath(tree);
  } catch (error) {
    const reason = /** @type {Error} */ (error).message.trim().split('\n').at(-1);
    throw new UserError(
      `The project's own Node needs ${LIBRARY}, which this system lacks, and the download failed (${reason}).\n` +
        'Install it and start again: apt-get install libatomic1, dnf install libatomic, or zypper install libatomic1.',
    );
  }
}

/**
 * Creates the folder by a rename, so that it is complete.
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
    // Another start may have created it meanwhile.
    const tree = join(packages, PACKAGE, 'tree');
    if (!existsSync(tree)) renameSync(partial, tree);
  } finally {
    for (const path of [debs, partial]) rmSync(path, { recursive: true, force: true });
  }
}

/** @param {string} tree */
function searchPath(tree) {
  const base = join(tree, 'usr', 'lib');
  const before = process.env['LD_LIBRARY_PATH'] ?? '';
  const folders = readdirSync(base).map((name) => join(base, name));
  return { LD_LIBRARY_PATH: [...folders, ...(before === '' ? [] : [before])].join(delimiter) };
}
