import type { SyncAction } from '@wts/contracts';
import { request } from 'undici';
import { WebSocket, type RawData } from 'ws';
import { setTimeout as pause } from 'node:timers/promises';

export interface Target {
  readonly baseUrl: string;
  readonly token: string;
}

/** Somebody who follows the log through a public door and keeps what came, in order. */
export interface Listener extends AsyncDisposable {
  readonly name: string;
  readonly received: readonly SyncAction[];
  /** The place up to which it was told everything. */
  readonly at: () => bigint;
  /** Hands over what was received up to a place, and forgets it. */
  readonly take: (upTo: bigint) => SyncAction[];
}

/** A socket that can be treated badly. */
export interface SocketListener extends Listener {
  /** As when the network goes: no close frame. */
  readonly cut: () => void;
  /** Stops reading, so that the server's buffers fill. */
  readonly pause: () => void;
  readonly resume: () => void;
}

const RETRY_MS = 200;

/** A socket that resumes from its cursor whenever it is closed, as clients do. */
export function listenBySocket(target: Target, name: string, after: string): SocketListener {
  const received: SyncAction[] = [];
  let cursor = BigInt(after);
  let isClosed = false;
  let current: WebSocket | undefined;
  const connect = (): void => {
    const socket = new WebSocket(
      `${target.baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(target.token)}`,
      { perMessageDeflate: false },
    );
    current = socket;
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: String(cursor), token: target.token })),
    );
    socket.on('message', (data: RawData) => {
      const { packet } = JSON.parse((data as Buffer).toString('utf8')) as {
        packet?: { lastSyncId: string; actions: SyncAction[] };
      };
      if (packet === undefined) return;
      received.push(...packet.actions);
      cursor = BigInt(packet.lastSyncId);
    });
    // A refused or lost connection is no finding: the cursor brings what was missed, or the comparison says so.
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      if (!isClosed) setTimeout(connect, RETRY_MS);
    });
  };
  connect();
  return {
    name,
    received,
    at: () => cursor,
    take: (upTo) => takeUpTo(received, upTo),
    cut: () => current?.terminate(),
    pause: () => current?.pause(),
    resume: () => current?.resume(),
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      current?.terminate();
    },
  };
}

/** A poller: page after page by cursor. */
export function listenByPolling(target: Target, name: string, after: string, everyMs = 250): Listener {
  const received: SyncAction[] = [];
  const closing = new AbortController();
  let cursor = after;
  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const page = await readPage(target, cursor).catch(() => null);
      if (page !== null) {
        received.push(...page.actions);
        cursor = page.lastSyncId;
      }
      if (page?.hasMore !== true) await pause(everyMs);
    }
  };
  const running = loop();
  return {
    name,
    received,
    at: () => BigInt(cursor),
    take: (upTo) => takeUpTo(received, upTo),
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await running;
    },
  };
}

function takeUpTo(received: SyncAction[], upTo: bigint): SyncAction[] {
  // From the end: entries ascend, or the comparison that follows says so.
  const kept = received.findLastIndex(({ syncId }) => BigInt(syncId) <= upTo) + 1;
  return received.splice(0, kept);
}

export async function readPage(
  target: Target,
  after: string,
): Promise<{ lastSyncId: string; hasMore: boolean; actions: SyncAction[] }> {
  const { statusCode, body } = await request(`${target.baseUrl}/sync/deltas?after=${after}&limit=5000`, {
    headers: { authorization: `Bearer ${target.token}` },
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  });
  if (statusCode !== 200) throw new Error(`/sync/deltas answered ${statusCode}: ${await body.text()}`);
  return (await body.json()) as { lastSyncId: string; hasMore: boolean; actions: SyncAction[] };
}

type SnapshotRow = { readonly __class: string } & { readonly [field: string]: unknown };

export interface Snapshot {
  readonly lastSyncId: string;
  /** All groups of the caller, their own first. */
  readonly groups: readonly string[];
  readonly rows: readonly SnapshotRow[];
}

/** A whole snapshot. One that ends without saying so is a fault: its reader could take it for whole. */
export async function readSnapshot(target: Target, onlyModels: readonly string[]): Promise<Snapshot> {
  const { statusCode, body } = await request(`${target.baseUrl}/sync/bootstrap?onlyModels=${onlyModels.join(',')}`, {
    headers: { authorization: `Bearer ${target.token}` },
    headersTimeout: 20_000,
    bodyTimeout: 20_000,
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`/sync/bootstrap answered ${statusCode}: ${text}`);
  const lines = text.trimEnd().split('\n');
  const { type, rowCount } = JSON.parse(lines.at(-1) ?? '') as { type?: string; rowCount?: number };
  if (type !== 'end' || rowCount !== lines.length - 2) {
    throw new Error(`/sync/bootstrap gave ${lines.length} lines that end with ${lines.at(-1)}`);
  }
  const { lastSyncId, subscribedSyncGroups: groups } = JSON.parse(lines[0] ?? '') as {
    lastSyncId: string;
    subscribedSyncGroups: string[];
  };
  return { lastSyncId, groups, rows: lines.slice(1, -1).map((line) => JSON.parse(line) as SnapshotRow) };
}
