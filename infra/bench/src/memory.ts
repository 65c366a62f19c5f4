import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import type { Part } from './target.ts';

const SAMPLE_MS = 20;
const MEGABYTE = 1024 * 1024;
const COLLECT_MS = 20_000;

/** Megabytes in memory, of these processes together. */
export function residentMb(parts: readonly Part[]): number {
  return parts.reduce((sum, { pid }) => sum + residentKb(pid) / 1024, 0);
}

function residentKb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).trim());
  }
}

export interface Peak {
  /** The most memory in this time, of all processes together. */
  readonly peakMb: number;
  /** That over what they had before. */
  readonly grownMb: number;
  /** The same of each, whose peaks need not be at one time. */
  readonly grownMbOf: { readonly [name: string]: number };
}

/** The most memory these processes have while something is done. */
export async function peakWhile<T>(parts: readonly Part[], work: () => Promise<T>): Promise<Peak & { result: T }> {
  const groups = [parts, ...parts.map((part) => [part])];
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
    const grownMbOf = Object.fromEntries(parts.map(({ name }, at) => [name, each[at] ?? 0]));
    return { result, peakMb: peaks[0] ?? 0, grownMb, grownMbOf };
  } finally {
    clearInterval(sampling);
  }
}

/** For processes whose memory is asked for from inside: see `Inside`. */
export const INSPECTABLE = '--inspect=127.0.0.1:0';

/**
 * What processes hold on to: memory that is still there after collecting garbage. What they have in memory says little
 * about small amounts, because a heap is collected when it likes.
 */
export class Inside implements AsyncDisposable {
  readonly #sockets: readonly WebSocket[];
  #asked = 0;

  private constructor(sockets: readonly WebSocket[]) {
    this.#sockets = sockets;
  }

  /** Finds the address in what Node writes at the start; the processes were started `INSPECTABLE`. */
  static async open(parts: readonly Part[]): Promise<Inside> {
    const sockets = parts.map(({ name, log }) => {
      const [address] =
        readFileSync(log, 'utf8')
          .match(/ws:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]+/g)
          ?.slice(-1) ?? [];
      if (address === undefined) throw new Error(`${name} was not started to be looked into`);
      return new WebSocket(address);
    });
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    return new Inside(sockets);
  }

  /** Megabytes of each process, in the order they were given. */
  async heldMb(): Promise<readonly number[]> {
    const held = await Promise.all(this.#sockets.map((socket) => this.#held(socket)));
    return held.map((bytes) => bytes / MEGABYTE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
  }

  async #held(socket: WebSocket): Promise<number> {
    // Twice: what finalizers let go of is collected by the second.
    for (let time = 0; time < 2; time += 1) await this.#ask(socket, 'HeapProfiler.collectGarbage');
    const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
    const { result } = (await this.#ask(socket, 'Runtime.evaluate', { expression, returnByValue: true })) as {
      result: { value: number };
    };
    return result.value;
  }

  #ask(socket: WebSocket, method: string, params: object = {}): Promise<unknown> {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} was not answered`)), COLLECT_MS);
      socket.on('message', function hear(data) {
        const answer = JSON.parse((data as Buffer).toString('utf8')) as { id?: number; result?: unknown };
        if (answer.id !== id) return;
        clearTimeout(timer);
        socket.off('message', hear);
        resolve(answer.result);
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
