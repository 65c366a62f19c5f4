import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf } from './identity.ts';

// Below the ports that systems use for outgoing connections (from 32768 on Linux, from 49152 on macOS), so that a reserved port
// stays free until its server has started.
const FIRST = 20_000;
const LAST = 32_000;
const ATTEMPTS = 200;
const reserved = new Set<number>();
/** A file for each port that a process of this user was given: systems that start at the same time get different ones. */
const CLAIMS = join(tmpdir(), `wts-ports-${process.getuid?.() ?? 0}`);
/** By then the server on it has started. */
const CLAIM_MS = 60_000;

/** A free port on loopback. This process never returns the same port twice, another one not within a minute. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && !reserved.has(preferred) && (await isFree(preferred))) return reserve(preferred);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST, LAST);
    if (!reserved.has(port) && (await isFree(port)) && claim(port)) return reserve(port);
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
}

/** False when another process claimed the port within a minute; with `again` only while that process runs. */
function claim(port: number, { again = false } = {}): boolean {
  const file = join(CLAIMS, String(port));
  mkdirSync(CLAIMS, { recursive: true });
  try {
    const isOld = Date.now() - statSync(file).mtimeMs >= CLAIM_MS;
    if (!isOld && !(again && hasEnded(Number(readText(file))))) return false;
    rmSync(file, { force: true });
  } catch {
    // There is no claim.
  }
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** The first free port from `from` on. */
export async function nextFreePort(from: number, except: readonly number[] = []): Promise<number> {
  for (let port = from; port <= Math.min(65_535, from + ATTEMPTS); port += 1) {
    if (!except.includes(port) && (await isFree(port)) && claim(port, { again: true })) return reserve(port);
  }
  return freePort();
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** The program that listens on a port, for a message; null when the system does not show it. */
export function describeListener(port: number): string | null {
  try {
    return process.platform === 'linux' ? linuxListener(port) : lsofListener(port);
  } catch {
    return null;
  }
}

/** Also true of this process itself. */
function hasEnded(pid: number): boolean {
  return pid === process.pid || identityOf(pid) === null;
}

function reserve(port: number): number {
  reserved.add(port);
  return port;
}

function linuxListener(port: number): string | null {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readText(table).split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      // State 0A is LISTEN; field 9 is the inode of the socket.
      if (fields[1]?.endsWith(`:${hex}`) && fields[3] === '0A') inodes.add(`socket:[${fields[9]}]`);
    }
  }
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (descriptorsOf(pid).some((target) => inodes.has(target)))
      return `${readText(`/proc/${pid}/comm`).trim()} (process ${pid})`;
  }
  return null;
}

function descriptorsOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((descriptor) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
      } catch {
        return '';
      }
    });
  } catch {
    return [];
  }
}

function lsofListener(port: number): string | null {
  const out = execFileSync('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const pid = /^p(\d+)$/m.exec(out)?.[1];
  const command = /^c(.+)$/m.exec(out)?.[1];
  return pid === undefined ? null : `${command ?? 'a process'} (process ${pid})`;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
