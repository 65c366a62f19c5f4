import { setTimeout as pause } from 'node:timers/promises';
import { connect, type Socket } from 'node:net';
import type { Asked, Caller } from './caller.ts';

/** What an attack met: how often which status, or the code of the network. */
export type Answers = { readonly [answer: string]: number };

/** Who was refused or cut off comes again after this: the attack, not the speed of one generator, is to be measured. */
export const AGAIN_MS = 100;

/** One person who takes what they can get, with a second one for what needs two. */
export class Attacker implements AsyncDisposable {
  readonly caller: Caller;
  readonly other: Caller;
  /** Between 0 and 1: how much of the full amount of data there is to be. */
  readonly scale: number;
  /** What was read that must not have been. */
  readonly leaks: string[] = [];
  #answers = new Map<string, number>();

  constructor(caller: Caller, other: Caller, scale: number) {
    this.caller = caller;
    this.other = other;
    this.scale = scale;
  }

  sized(count: number): number {
    return Math.ceil(count * this.scale);
  }

  count(answer: string | number): void {
    this.#answers.set(String(answer), (this.#answers.get(String(answer)) ?? 0) + 1);
  }

  /** What was met since this was asked last. */
  takeAnswers(): Answers {
    const answers = Object.fromEntries(this.#answers);
    this.#answers = new Map();
    return answers;
  }

  /** `clients` at a time, each again as soon as it was answered, until stopped: then all hang up. */
  async flood(clients: number, stop: AbortSignal, request: (nth: number) => [string, string, Asked?]): Promise<void> {
    let nth = 0;
    const client = async (): Promise<void> => {
      while (!stop.aborted) {
        const [method, path, asked] = request(nth++);
        const status = await this.caller.status(method, path, { ...asked, signal: stop }).catch(codeOf);
        if (stop.aborted) return;
        this.count(status);
        if (status !== 200) await rest(AGAIN_MS, stop);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  /** Bytes on a connection of their own, of which nothing is read but counted; it is gone with the attack. */
  raw(bytes: string, stop: AbortSignal): Socket {
    const { hostname, port } = new URL(this.caller.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', (error) => this.count(codeOf(error)));
    socket.once('data', (data: Buffer) => this.count(data.toString('latin1', 9, 12)));
    const leave = (): void => void socket.destroy();
    stop.addEventListener('abort', leave, { once: true });
    socket.once('close', () => stop.removeEventListener('abort', leave));
    socket.write(bytes);
    return socket;
  }

  /** A request as `raw` takes it. */
  bytesOf(method: string, path: string, body = ''): string {
    const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${this.caller.token}`];
    if (body !== '') head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.caller[Symbol.asyncDispose](), this.other[Symbol.asyncDispose]()]);
  }
}

export function rest(ms: number, stop: AbortSignal): Promise<void> {
  return pause(ms, undefined, { signal: stop }).catch(() => undefined);
}

export function codeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? 'failed';
}
