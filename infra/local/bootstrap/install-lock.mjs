// One install at a time: a second start waits for the first. A lock whose owner is dead is taken over.
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimes, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

const HEARTBEAT_MS = 5000;
/** Several heartbeats: a machine that is busy installing may be late. */
const SILENT_MS = 60_000;
const LOOK_MS = 200;

/**
 * @typedef {object} Lock
 * @property {(pid: number) => void} extendTo also held while that process lives: a killed owner's install works on
 * @property {() => void} release
 */

/**
 * @param {string} file
 * @param {() => void} onWait called once when somebody else has it
 * @returns {Promise<Lock>}
 */
export async function takeLock(file, onWait) {
  const own = `${file}.${process.pid}`;
  const write = (/** @type {number[]} */ pids) => writeFileSync(own, JSON.stringify({ pids, host: hostname() }));
  let told = false;
  try {
    // Appears complete or not at all, because whoever read half of it would think its owner dead.
    write([process.pid]);
    while (!linked(own, file)) {
      if (isDead(file)) removeDead(file, `${own}.dead`);
      else if (!told) {
        told = true;
        onWait();
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  } finally {
    rmSync(own, { force: true });
  }
  const heartbeat = setInterval(() => utimes(file, new Date(), new Date(), () => {}), HEARTBEAT_MS);
  return {
    extendTo: (pid) => {
      write([process.pid, pid]);
      renameSync(own, file);
    },
    release: () => {
      clearInterval(heartbeat);
      rmSync(file, { force: true });
    },
  };
}

/**
 * @param {string} own
 * @param {string} file
 */
function linked(own, file) {
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

/** @param {string} file */
function isDead(file) {
  try {
    const { pids, host } = /** @type {{ pids: number[], host: string }} */ (JSON.parse(readFileSync(file, 'utf8')));
    if (host === hostname() && !pids.some(isRunning)) return true;
    // The owner may be in another container, or its pid another program's by now: only a heartbeat shows it lives.
    return Date.now() - statSync(file).mtimeMs > SILENT_MS;
  } catch {
    return false;
  }
}

/**
 * Two may find the same dead owner: only what is still dead once moved away is removed.
 * @param {string} file
 * @param {string} aside
 */
function removeDead(file, aside) {
  try {
    renameSync(file, aside);
    if (!isDead(aside)) linkSync(aside, file);
    rmSync(aside, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}
