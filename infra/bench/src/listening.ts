import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Door } from './door.ts';
import { mutate, openClients } from './traffic.ts';

const OPEN_MS = 30_000;
const MARK = Buffer.from('"syncId":"');
const AT_ONCE = 25;

/** A socket that costs its reader little: it counts actions by their mark, and parses only when told to keep ids. */
export class Listening {
  actions = 0;
  frames = 0;
  readonly ids: string[] = [];
  readonly #socket: WebSocket;
  readonly #keepsIds: boolean;

  constructor(socket: WebSocket, keepsIds: boolean) {
    this.#socket = socket;
    this.#keepsIds = keepsIds;
    socket.on('message', (data) => this.#hear(data as Buffer));
    socket.on('error', () => socket.terminate());
  }

  pause(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.terminate();
  }

  #hear(data: Buffer): void {
    this.frames += 1;
    if (this.#keepsIds) {
      const { packet } = JSON.parse(data.toString('utf8')) as { packet?: { actions: { syncId: string }[] } };
      for (const { syncId } of packet?.actions ?? []) this.ids.push(syncId);
      this.actions = this.ids.length;
      return;
    }
    for (let at = data.indexOf(MARK); at >= 0; at = data.indexOf(MARK, at + MARK.length)) this.actions += 1;
  }
}

/** Sockets that have subscribed from the log's present head on. */
export async function listenAtHead(door: Door, count: number, keepsIds = false): Promise<Listening[]> {
  const pool = openClients(door.baseUrl, 1);
  const { lastSyncId } = await mutate(pool, door, 1);
  await pool.close();
  const all: Listening[] = [];
  while (all.length < count) {
    const next = Math.min(AT_ONCE, count - all.length);
    all.push(...(await Promise.all(Array.from({ length: next }, () => open(door, lastSyncId, keepsIds)))));
  }
  return all;
}

async function open(door: Door, after: string, keepsIds: boolean): Promise<Listening> {
  const url = `${door.baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(door.apiKey)}`;
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`a socket of ${door.name} did not subscribe`)), OPEN_MS);
    socket.once('error', reject);
    socket.once('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: after, token: door.apiKey })),
    );
    socket.once('message', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return new Listening(socket, keepsIds);
}

/** Waits until nothing more arrives. Returns when the last came. */
export async function untilSilent(all: readonly Listening[], silentMs: number, deadlineMs: number): Promise<number> {
  const until = performance.now() + deadlineMs;
  let heard = -1;
  let changedMs = performance.now();
  while (performance.now() < until && performance.now() - changedMs < silentMs) {
    const now = all.reduce((sum, { actions }) => sum + actions, 0);
    if (now !== heard) changedMs = performance.now();
    heard = now;
    await pause(10);
  }
  return changedMs;
}
