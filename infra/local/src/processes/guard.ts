/**
 * Ends child processes when their parent is killed with SIGKILL: the kernel would leave PostgreSQL and NATS running. One small
 * shell per launcher, the reaper, reads a pipe that only the launcher holds open. Each line is the complete list of pids to
 * end. When the pipe closes, the reaper ends the pids of the last line and removes the temporary directory of the launcher. It
 * runs in its own session, so neither Ctrl-C nor a signal to the process group reaches it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

const REAPER = join(import.meta.dirname, 'reaper.sh');

const guarded = new Set<number>();
let reaper: ChildProcess | null = null;
let temporaryDirectory = '';

/** Sets the directory that is removed when this process ends. Call it before the first child is guarded. */
export function removeAtExit(directory: string): void {
  if (reaper !== null) throw new Error('the reaper runs already');
  temporaryDirectory = directory;
  sendToReaper();
}

/** From now on the process ends with this one. */
export function guard(pid: number): void {
  guarded.add(pid);
  sendToReaper();
}

/** Call it when the process has exited, because another process may get its pid. */
export function unguard(pid: number): void {
  if (guarded.delete(pid)) sendToReaper();
}

function sendToReaper(): void {
  if (reaper === null) {
    reaper = spawn('sh', [REAPER, temporaryDirectory], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    reaper.unref();
    const pipe = reaper.stdin as unknown as { unref(): void; on(event: 'error', ignore: () => void): void };
    pipe.unref();
    // Without a reaper only the clean-up after SIGKILL is missing, and the next start does that too.
    pipe.on('error', () => {});
    reaper.on('error', () => {});
  }
  reaper.stdin?.write(`${[...guarded].join(' ')}\n`);
}
