// A lock file. Runs on Node 18.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Takes the lock and returns null, or returns the process that holds it. Takes over the lock of a dead process. The lock is a
 * hard link to a complete file, because a reader of an incomplete file would treat its owner as dead.
 * @template {object} Owner
 * @param {string} file
 * @param {Owner} own the content of the lock file for this process
 * @param {(owner: Owner) => boolean} isDead
 * @returns {Owner | null}
 */
export function tryLock(file, own, isDead) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  const read = (/** @type {string} */ path) => {
    const owner = readOwner(path);
    return owner === null || isDead(/** @type {Owner} */ (owner)) ? null : /** @type {Owner} */ (owner);
  };
  try {
    while (!linked(draft, file)) {
      const owner = read(file);
      if (owner !== null) return owner;
      removeDead(file, `${draft}.dead`, (aside) => read(aside) === null);
    }
    return null;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @param {string} draft
 * @param {string} file
 */
function linked(draft, file) {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

/**
 * Two processes may find the same dead owner, so this moves the lock away and checks again before it removes it.
 * @param {string} file
 * @param {string} aside
 * @param {(aside: string) => boolean} isFree
 */
function removeDead(file, aside, isFree) {
  try {
    renameSync(file, aside);
    if (!isFree(aside)) linkSync(aside, file);
    rmSync(aside, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  }
}

/** @param {string} file */
function readOwner(file) {
  try {
    return /** @type {unknown} */ (JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}
