import { generateApiKey } from '@wts/access';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { RETRY_MS, codeOf, type Attack, type Attacker } from './attacker.ts';
import { rest } from '../rest.ts';
import { CONTENT_MARK, type HttpCaller, type RequestOptions } from './http-caller.ts';

const PIPELINED = 50_000;
const PIPELINE_MS = 1_000;
const MODELS = 'Workspace,User,WorkspaceMember,Team,TeamMember,Project,ProjectMember,Label,TaskChecklistItem,Comment';
const LARGE_TEXT_CHARS = 40_000;
const SLOW_READERS = 60;
const DRIP_MS = 1_000;
const SOCKETS = 1_000;
const RESUBSCRIBES_MS = 550;
const SOCKETS_AT_ONCE = 50;
const REPLAYS = 200;
const REPLAYED_PACKETS = 20;

/** Writes thousands of ordinary tasks. Resolves to the position before them. */
async function longLog(attacker: Attacker): Promise<{ workspaceId: string; start: string }> {
  const workspaceId = await attacker.caller.createWorkspace();
  const payload = { workspaceId, title: CONTENT_MARK };
  const label = {
    action: 'INSERT',
    modelName: 'Label',
    modelId: randomUUID(),
    payload: { workspaceId, name: 'L' },
  } as const;
  const { lastSyncId: start } = await attacker.caller.commit([label]);
  await attacker.caller.insertMany(attacker.sized(6_000), 100, { modelName: 'Task', payload });
  return { workspaceId, start };
}

const socketUrl = ({ baseUrl, token }: HttpCaller): string =>
  `${baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(token)}`;

/** Writes tasks of 40 KB each. */
async function largeWorkspace(attacker: Attacker, tasks: number): Promise<void> {
  const workspaceId = await attacker.caller.createWorkspace();
  const payload = { workspaceId, title: CONTENT_MARK, description: CONTENT_MARK.padEnd(LARGE_TEXT_CHARS, 'd') };
  await attacker.caller.insertMany(attacker.sized(tasks), 20, { modelName: 'Task', payload });
}

/** A different set of models for each of a thousand requests, so that they cannot share one snapshot. */
function differentSnapshot(nth: number): string {
  const others = MODELS.split(',').filter((_, bit) => (nth >> bit) & 1);
  return `/sync/bootstrap?onlyModels=${['Task', ...others].join(',')}`;
}

const loadSnapshots =
  (clients: number, options: RequestOptions = {}): Attack =>
  async (attacker) => {
    await largeWorkspace(attacker, 400);
    return (stop) => attacker.flood(clients, stop, (nth) => ['GET', differentSnapshot(nth), options]);
  };

/** Attacks by reading, and by holding connections. */
export const READING_ATTACKS = {
  /** One connection sends tens of thousands of pipelined requests, each with another well-formed key that does not exist. */
  pipeline: async (attacker) => {
    const request = (): string =>
      `GET /api/workspaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${generateApiKey('wts_').token}\r\n\r\n`;
    const bytes = Array.from({ length: attacker.sized(PIPELINED) }, request).join('');
    return async (stop) => {
      while (!stop.aborted) {
        const disconnecting = new AbortController();
        attacker.raw(bytes, disconnecting.signal).resume();
        await rest(PIPELINE_MS, stop);
        disconnecting.abort();
      }
    };
  },

  /** 240 clients load large snapshots, each a different one. */
  boots: loadSnapshots(240),

  /** 64 clients load large compressed snapshots. */
  gzip: loadSnapshots(64, { encoding: 'gzip' }),

  /** 60 clients load large snapshots and read one chunk per second. */
  slow: async (attacker) => {
    await largeWorkspace(attacker, 1_000);
    return async (stop) => {
      const sockets = new Set<Socket>();
      for (let nth = 0; !stop.aborted; nth += 1) {
        if (sockets.size < SLOW_READERS) {
          const socket = attacker.raw(attacker.bytesOf('GET', differentSnapshot(nth)), stop);
          sockets.add(socket);
          socket.once('close', () => sockets.delete(socket));
          socket.on('data', () => socket.pause());
          continue;
        }
        await rest(DRIP_MS, stop);
        for (const socket of sockets) socket.resume();
      }
    };
  },

  /** 240 clients read the log from its start in the largest pages. */
  polls: async (attacker) => {
    await longLog(attacker);
    return (stop) => attacker.flood(240, stop, () => ['GET', '/sync/deltas?after=0&limit=5000']);
  },

  /** 64 clients request all tasks of a workspace a hundred times in one batch request. */
  batches: async (attacker) => {
    const { workspaceId } = await longLog(attacker);
    const one = { modelName: 'Task', groupId: workspaceId };
    const body = JSON.stringify({ requests: Array.from({ length: 100 }, () => one) });
    return (stop) => attacker.flood(64, stop, () => ['POST', '/sync/batch', { body }]);
  },

  /** 200 sockets subscribe from an early position and reconnect, again and again. */
  replays: async (attacker) => {
    const { start } = await longLog(attacker);
    const subscribe = JSON.stringify({ type: 'subscribe', afterSyncId: start, token: attacker.caller.token });
    const once = (stop: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const socket = new WebSocket(socketUrl(attacker.caller), { perMessageDeflate: false });
        const disconnect = (): void => socket.terminate();
        stop.addEventListener('abort', disconnect, { once: true });
        let packets = 0;
        socket.once('open', () => socket.send(subscribe));
        socket.on('message', () => (packets += 1) > REPLAYED_PACKETS && disconnect());
        socket.on('error', (error) => attacker.count(codeOf(error)));
        socket.once('close', (code) => {
          attacker.count(`closed ${code}`);
          stop.removeEventListener('abort', disconnect);
          resolve();
        });
      });
    return async (stop) => {
      const client = async (): Promise<void> => {
        while (!stop.aborted) await once(stop).then(() => rest(RETRY_MS, stop));
      };
      await Promise.all(Array.from({ length: attacker.sized(REPLAYS) }, client));
    };
  },

  /** 64 clients send requests, each with another well-formed key that does not exist. */
  keyedReads: async (attacker) => (stop) =>
    attacker.flood(64, stop, () => ['GET', '/api/workspaces', { token: generateApiKey('wts_').token }]),

  /** 30 clients poll the log as a person with 20 000 private projects. */
  groups: async (attacker) => {
    const { caller } = attacker;
    const workspaceId = await caller.createWorkspace();
    const payload = { workspaceId, key: 'K', name: CONTENT_MARK, isPrivate: true };
    await caller.insertMany(attacker.sized(20_000), 100, { modelName: 'Project', payload });
    const { lastSyncId } = await caller.commit([
      { action: 'UPDATE', modelName: 'Workspace', modelId: workspaceId, payload: { name: `${CONTENT_MARK} 2` } },
    ]);
    return (stop) => attacker.flood(30, stop, () => ['GET', `/sync/deltas?after=${lastSyncId}`]);
  },

  /** A thousand sockets send subscribe frames as often as the limit allows. */
  sockets: async (attacker) => {
    const { token } = attacker.caller;
    await attacker.caller.createWorkspace();
    const url = socketUrl(attacker.caller);
    const subscribe = JSON.stringify({ type: 'subscribe', afterSyncId: '1', token });
    const open = (): Promise<WebSocket> =>
      new Promise((resolve) => {
        const socket = new WebSocket(url, { perMessageDeflate: false });
        socket.once('open', () => attacker.count(101));
        socket.on('error', (error) => attacker.count(codeOf(error)));
        for (const event of ['open', 'close']) socket.once(event, () => resolve(socket));
      });
    const openMissing = async (sockets: Set<WebSocket>): Promise<void> => {
      for (let missing = attacker.sized(SOCKETS) - sockets.size; missing > 0; missing -= SOCKETS_AT_ONCE) {
        const opened = await Promise.all(Array.from({ length: Math.min(missing, SOCKETS_AT_ONCE) }, open));
        for (const socket of opened) sockets.add(socket);
      }
    };
    return async (stop) => {
      const sockets = new Set<WebSocket>();
      while (!stop.aborted) {
        await openMissing(sockets);
        for (const socket of sockets) {
          if (socket.readyState === WebSocket.OPEN) socket.send(subscribe);
          else sockets.delete(socket);
        }
        await rest(RESUBSCRIBES_MS, stop);
      }
      for (const socket of sockets) socket.terminate();
    };
  },
} satisfies { readonly [name: string]: Attack };
