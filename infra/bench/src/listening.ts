import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Target } from './target.ts';
import { mutate, openClients } from './traffic.ts';

const OPEN_MS = 30_000;
const MARK = Buffer.from('"syncId":"');
const AT_ONCE = 25;
const LOOK_MS = 10;

/** What a listener keeps of what it hears. Counting costs the least: it looks for a mark and parses nothing. */
export type Keeps = 'count' | 'ids' | 'arrivals';

interface Heard {
  readonly packet?: { readonly actions: readonly { syncId: string; modelId: string }[] };
}

/** A socket that costs its reader little. */
export class Listening {
  actions = 0;
  frames = 0;
  isOpen = true;
  /** With `ids`, in the order they came. */
  readonly ids: string[] = [];
  /** With `arrivals`, in milliseconds of `performance.now`, by the id of what was changed. */
  readonly arrivals = new Map<string, number>();
  readonly #socket: WebSocket;
  readonly #keeps: Keeps;

  constructor(socket: WebSocket, keeps: Keeps) {
    this.#socket = socket;
    this.#keeps = keeps;
    socket.on('message', (data) => this.#hear(data as Buffer));
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

  #hear(data: Buffer): void {
    this.frames += 1;
    if (this.#keeps === 'count') {
      for (let at = data.indexOf(MARK); at >= 0; at = data.indexOf(MARK, at + MARK.length)) this.actions += 1;
      return;
    }
    const atMs = performance.now();
    const { packet } = JSON.parse(data.toString('utf8')) as Heard;
    for (const { syncId, modelId } of packet?.actions ?? []) {
      this.actions += 1;
      if (this.#keeps === 'ids') this.ids.push(syncId);
      else this.arrivals.set(modelId, atMs);
    }
  }
}

/** Where a target takes sockets: its public address unless another is given. */
export type SocketWay = (target: Target) => { readonly url: string; readonly headers?: Record<string, string> };

const publicWay: SocketWay = ({ baseUrl, apiKey }) => ({
  url: `${baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(apiKey)}`,
});

/** Sockets that have subscribed from the log's present head on. */
export async function listenAtHead(
  target: Target,
  count: number,
  keeps: Keeps = 'count',
  way: SocketWay = publicWay,
): Promise<Listening[]> {
  const pool = openClients(target.baseUrl, 1);
  const { lastSyncId } = await mutate(pool, target, 1);
  await pool.close();
  const all: Listening[] = [];
  try {
    while (all.length < count) {
      const next = Math.min(AT_ONCE, count - all.length);
      all.push(...(await Promise.all(Array.from({ length: next }, () => open(target, lastSyncId, keeps, way)))));
    }
    return all;
  } catch (error) {
    for (const one of all) one.close();
    throw error;
  }
}

async function open(target: Target, after: string, keeps: Keeps, way: SocketWay): Promise<Listening> {
  const { url, headers = {} } = way(target);
  const socket = new WebSocket(url, { perMessageDeflate: false, headers });
  // Before anything comes: several frames may arrive at once.
  const listening = new Listening(socket, keeps);
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
  return listening;
}

/** Waits until all have come, or nothing more arrives. Returns when the last came. */
export async function untilHeard(
  all: readonly Listening[],
  actions: number,
  silentMs: number,
  deadlineMs: number,
): Promise<number> {
  const until = performance.now() + deadlineMs;
  let heard = -1;
  let changedMs = performance.now();
  while (performance.now() < until && performance.now() - changedMs < silentMs && heard < actions) {
    const now = all.reduce((sum, { actions: came }) => sum + came, 0);
    if (now !== heard) changedMs = performance.now();
    heard = now;
    await pause(LOOK_MS);
  }
  return changedMs;
}
