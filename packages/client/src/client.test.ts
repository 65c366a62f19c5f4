import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RefusedError, SyncClient, SyncError, type Change, type SyncClientOptions, type SyncEvent } from './index.ts';

type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void;

const CHANGE: Change = { modelName: 'Task', modelId: '018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d21', action: 'DELETE' };
const FAST = { firstPauseMs: 1, pauseMsMax: 5 };

/** A server that answers as each test wants; what the real one does is tested in test-e2e. */
async function serve(handler: Handler, options: Partial<SyncClientOptions> = {}) {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (part) => (body += String(part)));
    req.on('end', () => handler(req, res, body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    client: new SyncClient({ baseUrl, token: 'token', retry: FAST, attemptMs: 1_000, ...options }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const answer = (res: ServerResponse, status: number, body: unknown): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** As the server would accept, or refuse, each of them. */
const mutated = (body: string, success = true): object => {
  const { transactions } = JSON.parse(body) as { transactions: { clientTxId: string }[] };
  const results = transactions.map(({ clientTxId }) =>
    success ? { clientTxId, success, syncId: '7' } : { clientTxId, success, error: 'No such task', code: 'not_found' },
  );
  return { ok: true, success, lastSyncId: '7', results, mutations: [] };
};

describe('a call of the client', () => {
  it('is repeated with the same clientTxId when its reply is lost, late, unreadable or incomplete', async () => {
    const names: string[] = [];
    const faults: Handler[] = [
      (req) => req.socket.destroy(),
      () => {},
      (_req, res) => res.writeHead(200).end('<html>'),
      (_req, res) => answer(res, 200, { lastSyncId: '0', results: [], mutations: [] }),
      (_req, res) =>
        answer(res, 503, { error: 'Service unavailable', ok: false, statusCode: 503, code: 'unavailable' }),
    ];
    await using at = await serve((req, res, body) => {
      names.push(
        ...(JSON.parse(body) as { transactions: { clientTxId: string }[] }).transactions.map((one) => one.clientTxId),
      );
      const fault = faults.shift();
      if (fault === undefined) answer(res, 200, mutated(body));
      else fault(req, res, body);
    });
    const { results } = await at.client.mutate([CHANGE]);
    assert.equal(names.length, 6);
    assert.equal(new Set(names).size, 1);
    assert.deepEqual(results, [{ clientTxId: names[0], success: true, syncId: '7' }]);
  });

  it('returns a refusal as a result, and throws it in mutateOrThrow', async () => {
    await using at = await serve((_req, res, body) => answer(res, 200, mutated(body, false)));
    const { results } = await at.client.mutate([{ ...CHANGE, clientTxId: 'mine' }]);
    assert.deepEqual(results, [{ clientTxId: 'mine', success: false, error: 'No such task', code: 'not_found' }]);
    await assert.rejects(at.client.mutateOrThrow([CHANGE, CHANGE]), (error) => {
      assert.ok(error instanceof RefusedError && !error.isTemporary);
      assert.equal(error.message, 'No such task (and 1 more)');
      assert.equal(error.outcome.results.length, 2);
      return true;
    });
  });

  it('is not repeated when the server refuses it as wrong', async () => {
    let calls = 0;
    await using at = await serve((_req, res) => {
      calls += 1;
      answer(res, 400, {
        error: 'Validation failed',
        ok: false,
        statusCode: 400,
        code: 'validation_failed',
        message: 'why',
      });
    });
    await assert.rejects(at.client.deltas('0'), { code: 'validation_failed', status: 400, message: 'why (HTTP 400)' });
    assert.equal(calls, 1);
  });

  it('ends at its deadline with the last failure as cause, and immediately by its signal', async () => {
    await using at = await serve((_req, res) => answer(res, 503, {}));
    await assert.rejects(at.client.deltas('0', { deadlineMs: 500 }), (error) => {
      assert.ok(error instanceof SyncError && error.cause instanceof SyncError);
      assert.deepEqual([error.code, error.cause.status], ['deadline_exceeded', 503]);
      return true;
    });
    const stopping = new AbortController();
    const call = at.client.mutate([CHANGE], { signal: stopping.signal });
    stopping.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
  });

  it('without any reply ends at its deadline too', async () => {
    await using at = await serve(() => {}, { attemptMs: 60_000 });
    await assert.rejects(at.client.bootstrap({}, { deadlineMs: 50 }), { code: 'deadline_exceeded' });
    await assert.rejects(at.client.deltas('0', { deadlineMs: 50 }), { code: 'deadline_exceeded' });
  });
});

describe('the client', () => {
  const faults: Record<string, [message: RegExp, options: Partial<SyncClientOptions>]> = {
    'no baseUrl': [/^baseUrl must be the address of the API/, { token: 'token' }],
    'a baseUrl without a scheme': [/^baseUrl must be/, { baseUrl: 'api.example.com', token: 'token' }],
    'a baseUrl without a host': [/^baseUrl must be/, { baseUrl: 'https://', token: 'token' }],
    'no token': [/^token must be an API key/, { baseUrl: 'https://api.example.com' }],
    'an empty token': [/^token must be an API key/, { baseUrl: 'https://api.example.com', token: '' }],
  };
  for (const [name, [message, options]] of Object.entries(faults)) {
    it(`names the option when given ${name}`, () =>
      assert.throws(() => new SyncClient(options as SyncClientOptions), { name: 'TypeError', message }));
  }

  const firstEvent = async (): Promise<SyncEvent | undefined> => {
    await using at = await serve((req) => req.socket.destroy());
    return (await at.client.follow().next()).value ?? undefined;
  };

  it('that cannot connect says so, and in whole milliseconds when it tries again', async () => {
    const event = await firstEvent();
    assert.ok(event?.type === 'offline' && event.error.message === 'The connection failed');
    assert.ok(Number.isInteger(event.retryMs), `${event.retryMs}`);
  });

  it('that cannot connect from a page of another origin names the setting of the server', async () => {
    Object.defineProperty(globalThis, 'location', { value: { origin: 'https://app.example.com' }, configurable: true });
    try {
      const event = await firstEvent();
      assert.match(
        event?.type === 'offline' ? event.error.message : '',
        /CORS_ORIGINS must list https:\/\/app\.example/,
      );
    } finally {
      Reflect.deleteProperty(globalThis, 'location');
    }
  });
});

describe('a snapshot', () => {
  const head = '{"lastSyncId":"5","subscribedSyncGroups":["g"],"databaseVersion":1,"epoch":"e"}\n';
  const record = '{"__class":"Task","id":"1","title":"Zürich 東京"}\n';
  const whole = `${head}${record}{"type":"end","rowCount":1}\n`;
  const load = async (bytes: Buffer, split: number): Promise<unknown[]> => {
    await using at = await serve((_req, res) => {
      res.writeHead(200);
      res.write(bytes.subarray(0, split), () => setImmediate(() => res.end(bytes.subarray(split))));
    });
    const snapshot = await at.client.bootstrap();
    assert.equal(snapshot.lastSyncId, '5');
    return (await Array.fromAsync(snapshot.records)).flat();
  };

  it('is read whole for every split of its bytes', async () => {
    const bytes = Buffer.from(whole);
    for (let split = 1; split < bytes.length; split += 3)
      assert.deepEqual(await load(bytes, split), [JSON.parse(record)]);
  });

  for (const [what, text] of [
    ['has no end', head + record],
    ['counts other records than it has', `${head}{"type":"end","rowCount":1}\n`],
    ['is cut off within a line', whole.slice(0, -3)],
    ['goes on behind its end', whole + record],
  ] as const) {
    it(`that ${what} is refused`, () =>
      assert.rejects(load(Buffer.from(text), head.length), { code: 'answer_invalid', isTemporary: true }));
  }

  it('that stops arriving is refused', async () => {
    await using at = await serve((_req, res) => res.writeHead(200).write(head), { attemptMs: 50 });
    const { records } = await at.client.bootstrap();
    await assert.rejects(Array.fromAsync(records), /Nothing of the snapshot came in 50 ms/);
  });
});
