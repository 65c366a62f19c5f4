/**
 * What becomes of children when their parent is killed with SIGKILL: the kernel does nothing, so PostgreSQL and NATS
 * would live on as orphans. One small shell per launcher waits on a pipe that only the launcher holds open. Each line
 * it reads is the complete list of pids to end; when the pipe closes, whatever the cause, it ends those still on the
 * last line and removes the directory that was to live only as long as the launcher. It runs in a session of its own,
 * so neither Ctrl-C nor a kill of the process group reaches it.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const REAPER = join(import.meta.dirname, 'reaper.sh');

const guarded = new Set<number>();
let reaper: ChildProcess | null = null;
let sweptDirectory = '';

/** Names a directory that is removed when this process is gone. Call it before the first child is guarded. */
export function removeAtExit(directory: string): void {
  if (reaper !== null) throw new Error('the reaper runs already');
  sweptDirectory = directory;
  tellReaper();
}

/** From now on the process dies with this one. */
export function guard(pid: number): void {
  guarded.add(pid);
  tellReaper();
}

/** The process has been waited for; its pid may be somebody else's soon. */
export function unguard(pid: number): void {
  if (guarded.delete(pid)) tellReaper();
}

function tellReaper(): void {
  if (reaper === null) {
    reaper = spawn('sh', [REAPER, sweptDirectory], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    reaper.unref();
    const pipe = reaper.stdin as unknown as { unref(): void; on(event: 'error', ignore: () => void): void };
    pipe.unref();
    // Without a reaper everything works except the clean-up after SIGKILL, which the next start does as well.
    pipe.on('error', () => {});
    reaper.on('error', () => {});
  }
  reaper.stdin?.write(`${[...guarded].join(' ')}\n`);
}
