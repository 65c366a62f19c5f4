// One install at a time: a second start waits for the first.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { tryLock } from './lock.mjs';

const POLL_MS = 200;
/** No install takes this long: another program has its pid by now. */
const INSTALL_MS_MAX = 900_000;

/**
 * @typedef {object} Lock
 * @property {(pid: number) => void} extendTo keeps the lock while that process runs, because it outlives a killed owner
 * @property {() => void} release
 */

/**
 * @param {string} file
 * @param {() => void} onWait called once when another process has the lock
 * @returns {Promise<Lock>}
 */
export async function takeLock(file, onWait) {
  const own = (/** @type {number[]} */ ...pids) => ({ pids, sinceMs: Date.now() });
  const isDead = (/** @type {ReturnType<typeof own>} */ owner) =>
    !owner.pids.some(isRunning) || Date.now() - owner.sinceMs > INSTALL_MS_MAX;
  for (let isFirst = true; tryLock(file, own(process.pid), isDead) !== null; isFirst = false) {
    if (isFirst) onWait();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return {
    extendTo: (pid) => {
      writeFileSync(`${file}.${process.pid}`, JSON.stringify(own(process.pid, pid)));
      renameSync(`${file}.${process.pid}`, file);
    },
    release: () => rmSync(file, { force: true }),
  };
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
