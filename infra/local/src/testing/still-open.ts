/** Lists what keeps a process running, with the lines of code that opened it. */
import { ChildProcess, execFileSync } from 'node:child_process';
import { Server, Socket } from 'node:net';

const LINES_MAX = 8;
/** Frames that say nothing about the caller. */
const OF_OTHERS = /node:|node_modules|testing\/still-open/;

const origins = new WeakMap<object, string>();

/**
 * From now on, each connection that this process opens keeps the stack of its caller: as text, because an error whose text was not read
 * holds on to all that its frames refer to.
 */
export function rememberOrigins(): void {
  const prototype = Socket.prototype as unknown as { connect: (...args: unknown[]) => Socket };
  const { connect } = prototype;
  prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
    origins.set(this, new Error('opened').stack ?? '');
    return connect.apply(this, args);
  };
}

/**
 * For the log of a process that should have exited. Timers and requests have a number only; sockets, servers and child processes
 * are described.
 */
export function describeOpen(): string {
  const counts = Map.groupBy(process.getActiveResourcesInfo(), (type) => type);
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  return [
    `open: ${[...counts].map(([type, all]) => `${all.length} ${type}`).join(', ') || 'nothing'}`,
    ...handles.map((handle) => `- ${describe(handle)}${originOf(handle)}`),
  ].join('\n');
}

function describe(handle: object): string {
  if (handle instanceof Socket) {
    const { localPort, remoteAddress, remotePort, bytesRead, bytesWritten, connecting } = handle;
    const state = connecting ? 'connecting' : `${bytesRead} bytes read, ${bytesWritten} written`;
    const isPipe = localPort === undefined && remotePort === undefined;
    return isPipe
      ? `pipe or socket without address: ${state}`
      : `socket ${localPort} to ${remoteAddress}:${remotePort}: ${state}`;
  }
  if (handle instanceof Server) return `server at ${JSON.stringify(handle.address())}`;
  if (handle instanceof ChildProcess) return `child process ${handle.pid}: ${handle.spawnargs.join(' ')}`;
  return handle.constructor.name;
}

function originOf(handle: object): string {
  const lines = (origins.get(handle) ?? '').split('\n').slice(1);
  const own = lines.filter((line) => !OF_OTHERS.test(line));
  return (own.length === 0 ? lines : own)
    .slice(0, LINES_MAX)
    .map((line) => `\n  ${line}`)
    .join('');
}

/** A process and those it started, with their state and processor time: what it waits for, and whose ports its sockets lead to. */
export function describeProcesses(pid: number): string {
  let all: string[];
  try {
    all = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,time=,args='], { encoding: 'utf8' }).split('\n');
  } catch {
    return '';
  }
  const found = new Set([pid]);
  const lines = all.filter((line) => {
    const [own = 0, parent = 0] = line.trim().split(/\s+/, 2).map(Number);
    if (found.has(parent)) found.add(own);
    return found.has(own);
  });
  return ['processes: pid, parent, state, processor time, command', ...lines].join('\n');
}
