import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { SyncClient, type Change } from '@wts/client';
import { sendChanges } from './send-changes.ts';

const CHANGE = { modelName: 'Task', modelId: 't', action: 'DELETE', clientTxId: 't:delete' } as const satisfies Change;

/** What the changes get from a service that answers `unavailable` to so many requests. */
async function sent(
  unavailable: number,
): Promise<{ readonly success: boolean; readonly requests: readonly string[]; readonly notes: number }> {
  const requests: string[] = [];
  const server = createServer((req, res) => {
    void json(req).then((body) => {
      const clientTxId = (body as { transactions: { clientTxId: string }[] }).transactions[0]?.clientTxId ?? '';
      requests.push(clientTxId);
      const isRefused = requests.length <= unavailable;
      const result = isRefused
        ? { clientTxId, success: false, code: 'unavailable', error: 'Try again shortly' }
        : { clientTxId, success: true, syncId: '7' };
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ ok: true, success: !isRefused, lastSyncId: '7', results: [result], mutations: [] }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const sync = new SyncClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'x' });
    let notes = 0;
    const progress = { stage: () => {}, advance: () => {}, note: () => (notes += 1) };
    const { results } = await sendChanges([CHANGE], { sync, progress, signal, pauseMs: 1 });
    return { success: results[0]?.success === true, requests, notes };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const { signal } = new AbortController();

describe('changes of an import', () => {
  it('that the service cannot make just now are sent again with the same ids, a few times', async () => {
    assert.deepEqual(await sent(2), { success: true, requests: Array(3).fill('t:delete'), notes: 2 });
    const { success, requests } = await sent(Infinity);
    assert.deepEqual([success, requests.length], [false, 5]);
  });

  it('are sent again no earlier than the service asks, also when that is later than the time of a call', async () => {
    let requests = 0;
    const server = createServer((_, res) => {
      requests += 1;
      res.writeHead(429, { 'retry-after': '0.3' }).end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const sync = new SyncClient({
        baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        token: 'x',
      });
      const progress = { stage: () => {}, advance: () => {}, note: () => {} };
      await assert.rejects(sendChanges([CHANGE], { sync, progress, signal, patienceMs: 200 }), { exit: 'unreachable' });
      assert.equal(requests, 2);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('stop with a sentence when no service answers any more', async () => {
    const sync = new SyncClient({
      baseUrl: 'http://127.0.0.1:1',
      token: 'x',
      retry: { firstPauseMs: 1, pauseMsMax: 5 },
    });
    const progress = { stage: () => {}, advance: () => {}, note: () => {} };
    await assert.rejects(sendChanges([CHANGE], { sync, progress, signal, patienceMs: 50 }), {
      exit: 'unreachable',
      hint: 'Run the same command again: it goes on where it stopped.',
    });
  });
});
