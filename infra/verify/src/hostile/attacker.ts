import { connect, type Socket } from 'node:net';
import type { RequestOptions, HttpCaller } from './http-caller.ts';
import { rest } from '../rest.ts';

/** How often the requests of an attack ended with which status, or which network error. */
export type Outcomes = { readonly [outcome: string]: number };

/** A refused or disconnected attacker waits so long, so that the speed of the attacker's process does not count. */
export const RETRY_MS = 100;

/** One hostile person, with a second one for attacks that need two. */
export class Attacker implements AsyncDisposable {
  readonly caller: HttpCaller;
  readonly other: HttpCaller;
  /** Many more accounts, in a network of their own. */
  readonly accounts: readonly HttpCaller[];
  /** Between 0 and 1: the share of the full amount of data. */
  readonly scale: number;
  /** Data that the attacker read without access. */
  readonly leaks: string[] = [];
  #outcomes = new Map<string, number>();

  constructor({ caller, other, accounts, scale }: Pick<Attacker, 'caller' | 'other' | 'accounts' | 'scale'>) {
    this.caller = caller;
    this.other = other;
    this.accounts = accounts;
    this.scale = scale;
  }

  sized(count: number): number {
    return Math.ceil(count * this.scale);
  }

  count(outcome: string | number): void {
    this.#outcomes.set(String(outcome), (this.#outcomes.get(String(outcome)) ?? 0) + 1);
  }

  /** The outcomes since the last call. */
  takeOutcomes(): Outcomes {
    const outcomes = Object.fromEntries(this.#outcomes);
    this.#outcomes = new Map();
    return outcomes;
  }

  /** `clients` send one request after another until stopped; then all disconnect. */
  async flood(
    clients: number,
    stop: AbortSignal,
    request: (nth: number) => [string, string, RequestOptions?],
    caller = this.caller,
  ): Promise<void> {
    let nth = 0;
    const client = async (): Promise<void> => {
      while (!stop.aborted) {
        const [method, path, options] = request(nth++);
        const status = await caller.status(method, path, { ...options, signal: stop }).catch(codeOf);
        if (stop.aborted) return;
        this.count(status);
        if (status !== 200) await rest(RETRY_MS, stop);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  /** Sends bytes on a new connection and counts the status of the first response. The connection ends with the attack. */
  raw(bytes: string, stop: AbortSignal): Socket {
    const { hostname, port } = new URL(this.caller.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', (error) => this.count(codeOf(error)));
    socket.once('data', (data: Buffer) => this.count(data.toString('latin1', 9, 12)));
    const disconnect = (): void => void socket.destroy();
    stop.addEventListener('abort', disconnect, { once: true });
    socket.once('close', () => stop.removeEventListener('abort', disconnect));
    socket.write(bytes);
    return socket;
  }

  /** A request as bytes for `raw`. */
  bytesOf(method: string, path: string, body = ''): string {
    const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${this.caller.token}`];
    if (body !== '') head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.caller, this.other, ...this.accounts].map((caller) => caller[Symbol.asyncDispose]()));
  }
}

export function codeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? 'failed';
}

/** Creates the data that the attack needs through the public API, and returns the attack, which runs until stopped. */
export type Attack = (attacker: Attacker) => Promise<(stop: AbortSignal) => Promise<void>>;
