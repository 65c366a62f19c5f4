import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket as ServerSocket } from 'ws';
import { SyncClient, type SyncEvent } from './index.ts';

/** What the server does with each connection, in turn; the last one is used for all further ones. */
type Connection = (socket: ServerSocket, afterSyncId: string) => void;

const delta = (lastSyncId: number, size = 0): string => {
  const actions = [{ syncId: String(lastSyncId), data: { text: 'x'.repeat(size) } }];
  return JSON.stringify({ type: 'delta', packet: { lastSyncId: String(lastSyncId), actions } });
};
const subscribed = (after: string): string => JSON.stringify({ type: 'subscribed', afterSyncId: after, groups: ['g'] });
const error = (code: string): string => JSON.stringify({ type: 'error', code, message: 'why' });

/** A server that breaks off where each test wants; the real one is followed in test-e2e. */
async function serve(
  connections: readonly Connection[],
  answer: (path: string, res: ServerResponse) => void = () => {},
) {
  const cursors: string[] = [];
  const paths: string[] = [];
  const http = createServer(({ url = '' }, res) => {
    paths.push(url);
    answer(url, res);
  }).listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server: http });
  sockets.on('connection', (socket) => {
    const act = connections[Math.min(cursors.length, connections.length - 1)];
    socket.once('message', (data: Buffer) => {
      const { afterSyncId } = JSON.parse(data.toString('utf8')) as { afterSyncId: string };
      cursors.push(afterSyncId);
      act?.(socket, afterSyncId);
    });
  });
  await once(http, 'listening');
  const baseUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    client: new SyncClient({ baseUrl, token: 'token', retry: { firstPauseMs: 1, pauseMsMax: 5 }, attemptMs: 300 }),
    cursors,
    paths,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
    },
  };
}

async function take(events: AsyncIterable<SyncEvent>, isLast: (event: SyncEvent) => boolean): Promise<SyncEvent[]> {
  const seen: SyncEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (isLast(event)) break;
  }
  return seen;
}

const reaches = (place: string) => (event: SyncEvent) => event.type === 'delta' && event.lastSyncId === place;
const cursorsOf = (events: readonly SyncEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'delta' ? [event.lastSyncId] : []));

describe('following the log', () => {
  it('resumes after the last consumed event', async () => {
    await using at = await serve([
      (socket, after) => {
        for (const text of [subscribed(after), delta(5), delta(6)]) socket.send(text);
        socket.close(1012);
      },
      (socket, after) => {
        for (const text of [subscribed(after), delta(9)]) socket.send(text);
      },
    ]);
    const seen = await take(at.client.follow({ after: '4' }), reaches('9'));
    assert.deepEqual(at.cursors, ['4', '6']);
    assert.deepEqual(cursorsOf(seen), ['5', '6', '9']);
    assert.deepEqual(at.paths, []);
  });

  it('loads everything again after BOOTSTRAP_REQUIRED, also when the snapshot breaks off, and continues after it', async () => {
    const head = '{"lastSyncId":"20","subscribedSyncGroups":["g"],"databaseVersion":1,"epoch":"e"}\n';
    let loads = 0;
    await using at = await serve(
      [
        (socket) => socket.send(error('BOOTSTRAP_REQUIRED')),
        (socket, after) => {
          for (const text of [subscribed(after), delta(21)]) socket.send(text);
        },
      ],
      (_path, res) => {
        loads += 1;
        res.end(`${head}{"__class":"Task","id":"1"}\n${loads === 1 ? '' : '{"type":"end","rowCount":1}\n'}`);
      },
    );
    const seen = await take(at.client.follow({ after: '4' }), reaches('21'));
    const types = seen.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
    assert.deepEqual(types, ['reset', 'records', 'offline', 'reset', 'records', 'loaded', 'subscribed', 'delta']);
    assert.deepEqual(at.cursors, ['4', '20']);
  });

  it('pauses between snapshots when the log does not continue from them', async () => {
    const head = '{"lastSyncId":"20","subscribedSyncGroups":["g"],"databaseVersion":1,"epoch":"e"}\n';
    await using at = await serve([(socket) => socket.send(error('BOOTSTRAP_REQUIRED'))], (_path, res) =>
      res.end(`${head}{"type":"end","rowCount":0}\n`),
    );
    const seen = await take(at.client.follow(), ({ type }) => type === 'offline');
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['reset', 'loaded', 'offline'],
    );
  });

  it('reads pages while no socket can be opened', async () => {
    await using at = await serve([(socket) => socket.terminate()], (_path, res) => {
      const place = at.paths.length + 4;
      res.end(JSON.stringify({ lastSyncId: String(place), hasMore: false, actions: [{ syncId: String(place) }] }));
    });
    const seen = await take(at.client.follow({ after: '4' }), reaches('7'));
    assert.deepEqual(cursorsOf(seen), ['5', '6', '7']);
    assert.deepEqual(
      at.paths,
      ['4', '5', '6'].map((after) => `/sync/deltas?after=${after}`),
    );
  });

  it('ends with the error of the server when the credential is refused, after requesting a new token', async () => {
    await using at = await serve(
      [(socket) => socket.send(error('UNAUTHORIZED'), () => socket.close(1008))],
      (_path, res) =>
        res.writeHead(401).end('{"error":"Invalid token","ok":false,"statusCode":401,"code":"token_invalid"}'),
    );
    await assert.rejects(
      take(at.client.follow({ after: '4' }), () => false),
      { code: 'token_invalid', status: 401 },
    );
  });

  it('connects again when the server sends no first frame', async () => {
    await using at = await serve(
      [() => {}, (socket, after) => [subscribed(after), delta(5)].forEach((text) => socket.send(text))],
      (_path, res) => res.writeHead(503).end(),
    );
    const seen = await take(at.client.follow({ after: '4' }), reaches('5'));
    assert.equal(seen[0]?.type, 'offline');
    assert.deepEqual(at.cursors, ['4', '4']);
  });

  it('buffers frames for a slow reader up to its bound, and misses none', async () => {
    const last = 200;
    const closed = Promise.withResolvers<void>();
    const sendAll: Connection = (socket, after) => {
      socket.once('close', closed.resolve);
      socket.send(subscribed(after));
      for (let place = Number(after) + 1; place <= last; place += 1) socket.send(delta(place, 10_000));
    };
    await using at = await serve([sendAll]);
    const seen: string[] = [];
    for await (const event of at.client.follow({ after: '0', bufferCharsMax: 500_000 })) {
      if (event.type !== 'delta') continue;
      seen.push(event.lastSyncId);
      if (event.lastSyncId === String(last)) break;
      // More than the bound arrives while the first of it is taken in.
      if (seen.length === 1) await closed.promise;
    }
    assert.deepEqual(
      seen,
      Array.from({ length: last }, (_, index) => String(index + 1)),
    );
    assert.ok(at.cursors.length > 1);
  });

  it('ends by its signal in every wait', async () => {
    await using at = await serve([(socket, after) => socket.send(subscribed(after))], () => {});
    for (const after of ['4', undefined]) {
      const seen = await take(
        at.client.follow({ ...(after === undefined ? {} : { after }), signal: AbortSignal.timeout(100) }),
        () => false,
      );
      assert.deepEqual(
        seen.map(({ type }) => type),
        after === undefined ? [] : ['subscribed'],
      );
    }
  });
});
