import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Target } from './target.ts';
import { mutate, openClients } from './traffic.ts';

const OPEN_MS = 30_000;
const MARK = Buffer.from('"syncId":"');
const PARALLEL = 25;
const POLL_MS = 10;

/** What a subscriber stores. Counting costs the least, because it searches for a text and parses nothing. */
export type Keeps = 'count' | 'ids' | 'arrivals';

interface FrameContent {
  readonly packet?: { readonly actions: readonly { syncId: string; modelId: string }[] };
}

/** A socket that uses little CPU. */
export class Subscriber {
  actions = 0;
  frames = 0;
  isOpen = true;
  /** With `ids`, in the order of arrival. */
  readonly ids: string[] = [];
  /** With `arrivals`, in milliseconds of `performance.now`, by the id of the record. */
  readonly arrivals = new Map<string, number>();
  readonly #socket: WebSocket;
  readonly #keeps: Keeps;

  constructor(socket: WebSocket, keeps: Keeps) {
    this.#socket = socket;
    this.#keeps = keeps;
    socket.on('message', (data) => this.#receive(data as Buffer));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      this.isOpen = false;
    });
  }

  pause(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.terminate();
  }

  #receive(data: Buffer): void {
    this.frames += 1;
    if (this.#keeps === 'count') {
      for (let at = data.indexOf(MARK); at >= 0; at = data.indexOf(MARK, at + MARK.length)) this.actions += 1;
      return;
    }
    const atMs = performance.now();
    const { packet } = JSON.parse(data.toString('utf8')) as FrameContent;
    for (const { syncId, modelId } of packet?.actions ?? []) {
      this.actions += 1;
      if (this.#keeps === 'ids') this.ids.push(syncId);
      else this.arrivals.set(modelId, atMs);
    }
  }
}

/** Where a subscriber connects: the public address of a target, unless another one is given. */
export type SocketAddress = (target: Target) => { readonly url: string; readonly headers?: Record<string, string> };

const publicAddress: SocketAddress = ({ baseUrl, apiKey }) => ({
  url: `${baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(apiKey)}`,
});

/** Opens sockets that subscribe from the head of the log, until the end of the block. */
export async function subscribeAtHead(
  target: Target,
  count: number,
  keeps: Keeps = 'count',
  addressOf: SocketAddress = publicAddress,
): Promise<readonly Subscriber[] & Disposable> {
  await using pool = openClients(target.baseUrl, 1);
  const { lastSyncId } = await mutate(pool, target, 1);
  const all: Subscriber[] = [];
  using opening = new DisposableStack();
  opening.defer(() => all.forEach((one) => one.close()));
  while (all.length < count) {
    const next = Math.min(PARALLEL, count - all.length);
    all.push(...(await Promise.all(Array.from({ length: next }, () => open(target, lastSyncId, keeps, addressOf)))));
  }
  const opened = opening.move();
  return Object.assign(all, { [Symbol.dispose]: () => opened.dispose() });
}

async function open(target: Target, after: string, keeps: Keeps, addressOf: SocketAddress): Promise<Subscriber> {
  const { url, headers = {} } = addressOf(target);
  const socket = new WebSocket(url, { perMessageDeflate: false, headers });
  // Created before the first frame, because several frames may arrive together.
  const subscriber = new Subscriber(socket, keeps);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`a socket of ${target.name} did not subscribe`)), OPEN_MS);
    socket.once('error', reject);
    socket.once('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: after, token: target.apiKey })),
    );
    socket.once('message', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return subscriber;
}

/** Waits until so many actions have arrived in all, or nothing more arrives. Resolves to the time of the last arrival. */
export async function untilReceived(
  all: readonly Subscriber[],
  actions: number,
  silentMs: number,
  deadlineMs: number,
): Promise<number> {
  const until = performance.now() + deadlineMs;
  let received = -1;
  let changedMs = performance.now();
  while (performance.now() < until && performance.now() - changedMs < silentMs && received < actions) {
    const now = all.reduce((sum, one) => sum + one.actions, 0);
    if (now !== received) changedMs = performance.now();
    received = now;
    await pause(POLL_MS);
  }
  return changedMs;
}
