import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** State of the working copy, which a clone has of its own, or of its tools. */
const LEFT_OUT = new Set(['.git', '.local', '.turbo', 'node_modules']);
/** In a mount namespace, so that the disk ends with the processes that use it. */
const IS_ROOT = process.getuid?.() === 0;
const UNSHARE = ['--mount', ...(IS_ROOT ? [] : ['--user', '--map-root-user'])];
const ENTER = ['--mount', ...(IS_ROOT ? [] : ['--user', '--preserve-credentials'])];
const DISK_MB = 512;

/** A copy of the repository. */
export interface Place extends Disposable {
  readonly folder: string;
  /** What a command begins with that runs there. */
  readonly enter: readonly string[];
  /** True where `.local` is a small disk of its own. */
  readonly isDisk: boolean;
  /** Where this process finds a file of `.local`. */
  readonly pathOf: (name: string) => string;
}

/**
 * Copies the files of the repository to a new folder, where `npm start` has data, keys and logs of its own. Both share the
 * installed packages of others and what Node compiled; the links between their own packages are relative, so each uses its own
 * sources. `.local` is a small disk, but not where containers may not mount, and not on macOS.
 */
export async function cloneInto(folder: string, root: string): Promise<Place> {
  const local = join(folder, '.local');
  mkdirSync(local, { recursive: true });
  for (const name of readdirSync(root)) {
    if (!LEFT_OUT.has(name)) cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const holder = await mountDisk(local);
  const pathOf = (name: string): string => join(holder === null ? '' : `/proc/${holder.pid}/root`, local, name);
  const compiled = 'compile-cache';
  mkdirSync(join(root, '.local', compiled), { recursive: true });
  symlinkSync(join(root, '.local', compiled), pathOf(compiled));
  const enter = holder === null ? [] : ['nsenter', '--target', String(holder.pid), ...ENTER, '--'];
  return { folder, enter, isDisk: holder !== null, pathOf, [Symbol.dispose]: () => void holder?.kill() };
}

/** Resolves to the process whose namespace has the disk, and which ends with this one, or to null where none can be mounted. */
async function mountDisk(path: string): Promise<ChildProcess | null> {
  const script = `mount -t tmpfs -o size=${DISK_MB}m none '${path}' && echo mounted && exec cat`;
  const child = spawn('unshare', [...UNSHARE, 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  const isMounted = await Promise.race([
    once(child.stdout, 'data').then(() => true),
    once(child, 'close').then(
      () => false,
      () => false,
    ),
  ]);
  return isMounted ? child : null;
}
