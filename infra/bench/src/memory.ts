import { residentMbOf } from '@wts/verify';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import type { TargetProcess } from './target.ts';

const SAMPLE_MS = 20;
const MEGABYTE = 1024 * 1024;
const COLLECT_MS = 20_000;

/** The resident memory of these processes together. */
export function residentMb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + residentMbOf(pid), 0);
}

/** The resident memory of these processes, of which a page that several of them share counts once. */
export function proportionalMb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + proportionalMbOf(pid), 0);
}

function proportionalMbOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    // Another user's process, or a system without /proc.
    return residentMbOf(pid);
  }
}

export interface Peak {
  /** The peak of all processes together. */
  readonly peakMb: number;
  /** The peak minus the memory before. */
  readonly grownMb: number;
  /** The same for each process. Their peaks may be at different times. */
  readonly grownMbOf: { readonly [name: string]: number };
}

/** Measures the peak memory of processes while `work` runs. */
export async function peakWhile<T>(
  processes: readonly TargetProcess[],
  work: () => Promise<T>,
): Promise<Peak & { result: T }> {
  const all = processes.map(({ pid }) => pid);
  const groups = [all, ...all.map((pid) => [pid])];
  const before = groups.map(residentMb);
  const peaks = [...before];
  const sample = (): void => {
    for (const [at, group] of groups.entries()) peaks[at] = Math.max(peaks[at] ?? 0, residentMb(group));
  };
  const sampling = setInterval(sample, SAMPLE_MS);
  try {
    const result = await work();
    sample();
    const [grownMb = 0, ...each] = peaks.map((peak, at) => peak - (before[at] ?? 0));
    const grownMbOf = Object.fromEntries(processes.map(({ name }, at) => [name, each[at] ?? 0]));
    return { result, peakMb: peaks[0] ?? 0, grownMb, grownMbOf };
  } finally {
    clearInterval(sampling);
  }
}

/** The Node option that `HeapInspector` needs in a process. */
export const INSPECT_OPTION = '--inspect=127.0.0.1:0';

/**
 * Reads the live memory of processes after a garbage collection, through the inspector of Node. Resident memory is too coarse
 * for small amounts, because V8 collects garbage at its own times.
 */
export class HeapInspector implements AsyncDisposable {
  readonly #sockets: readonly WebSocket[];
  #calls = 0;

  private constructor(sockets: readonly WebSocket[]) {
    this.#sockets = sockets;
  }

  /** Reads the address of the inspector from the log of each process, which must run with `INSPECT_OPTION`. */
  static async open(processes: readonly TargetProcess[]): Promise<HeapInspector> {
    const sockets = processes.map(({ name, log }) => {
      const [address] =
        readFileSync(log, 'utf8')
          .match(/ws:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]+/g)
          ?.slice(-1) ?? [];
      if (address === undefined) throw new Error(`${name} was started without ${INSPECT_OPTION}`);
      return new WebSocket(address);
    });
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    return new HeapInspector(sockets);
  }

  /** The live megabytes of each process, in the given order. */
  async heldMb(): Promise<readonly number[]> {
    const held = await Promise.all(this.#sockets.map((socket) => this.#held(socket)));
    return held.map((bytes) => bytes / MEGABYTE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
  }

  async #held(socket: WebSocket): Promise<number> {
    // The second collection frees what the finalizers of the first one released.
    for (let time = 0; time < 2; time += 1) await this.#call(socket, 'HeapProfiler.collectGarbage');
    const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
    const { result } = (await this.#call(socket, 'Runtime.evaluate', { expression, returnByValue: true })) as {
      result: { value: number };
    };
    return result.value;
  }

  #call(socket: WebSocket, method: string, params: object = {}): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} got no reply`)), COLLECT_MS);
      socket.on('message', function onMessage(data) {
        const reply = JSON.parse((data as Buffer).toString('utf8')) as { id?: number; result?: unknown };
        if (reply.id !== id) return;
        clearTimeout(timer);
        socket.off('message', onMessage);
        resolve(reply.result);
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
