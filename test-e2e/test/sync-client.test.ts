import { RefusedError, SyncClient, type Change, type SyncEvent } from '@wts/client';
import { eventually, openBrowser, type Person, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openShared } from './shared-system.ts';

const BUILD = join(import.meta.dirname, '..', '..', 'packages', 'client', 'build.ts');
const RETRY = { firstPauseMs: 50, pauseMsMax: 500 };
const ENOUGH_MS = 30_000;

/** Collects events up to the first one that `isLast` accepts. */
async function until(events: AsyncGenerator<SyncEvent>, isLast: (event: SyncEvent) => boolean): Promise<SyncEvent[]> {
  const seen: SyncEvent[] = [];
  for (;;) {
    const next = await events.next();
    if (next.done === true) throw new Error(`it ended after ${JSON.stringify(seen)}`);
    seen.push(next.value);
    if (isLast(next.value)) return seen;
  }
}

const idsOf = (events: readonly SyncEvent[]): bigint[] =>
  events.flatMap((event) => (event.type === 'delta' ? event.actions.map(({ syncId }) => BigInt(syncId)) : []));

const reaches = (syncId: string) => (event: SyncEvent) =>
  event.type === 'delta' && BigInt(event.lastSyncId) >= BigInt(syncId);

describe('the client package', function client() {
  let testSystem: TestSystem;
  let ann: Person;
  /** Serves the built package and an empty page, as the origin of a web application. */
  const pages = createServer();
  let origin: string;
  let built: string;

  before(async () => {
    built = mkdtempSync(join(tmpdir(), 'wts-client-'));
    execFileSync(process.execPath, [BUILD, built]);
    pages.on('request', ({ url = '/' }, res) => {
      if (url === '/')
        return res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>app</title>');
      if (!existsSync(join(built, url))) return res.writeHead(404).end();
      return res.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(join(built, url)));
    });
    ({ testSystem, webOrigin: origin } = await openShared());
    ann = await testSystem.member('Ann');
    pages.listen(Number(new URL(origin).port), '127.0.0.1');
    await once(pages, 'listening');
  });
  after(async () => {
    pages.closeAllConnections();
    pages.close();
    rmSync(built, { recursive: true });
  });

  const open = (options: Partial<ConstructorParameters<typeof SyncClient>[0]> = {}): SyncClient =>
    new SyncClient({ baseUrl: testSystem.baseUrl, token: ann.token, retry: RETRY, ...options });

  const task = (title: string): Change => ({
    modelName: 'Task',
    modelId: randomUUID(),
    action: 'INSERT',
    payload: { workspaceId: testSystem.workspaceId, title },
  });
  const signal = (): AbortSignal => AbortSignal.timeout(ENOUGH_MS);

  it('loads a snapshot and then follows the log', async () => {
    const writer = open();
    const before = task('Before');
    await writer.mutateOrThrow([before]);
    const events = open().follow({ signal: signal() });
    const loading = await until(events, ({ type }) => type === 'loaded');
    assert.equal(loading[0]?.type, 'reset');
    const records = loading.flatMap((event) => (event.type === 'records' ? event.records : []));
    const loaded = records.filter((record) => record.__class === 'Task');
    assert.ok(loaded.some(({ id, title }) => id === before.modelId && title === 'Before'));

    const subscribed = await until(events, ({ type }) => type === 'subscribed');
    assert.deepEqual(subscribed, [{ type: 'subscribed', groups: [ann.userId, testSystem.workspaceId] }]);
    const { lastSyncId } = await writer.mutateOrThrow([task('After')]);
    const live = await until(events, reaches(lastSyncId));
    const inserted = live
      .flatMap((event) => (event.type === 'delta' ? event.actions : []))
      .filter((entry) => entry.modelName === 'Task' && entry.action === 'INSERT');
    assert.ok(inserted.some(({ data }) => data.title === 'After'));
    await events.return();
  });

  it('receives every entry once and in order over broken connections and a restarted server', async () => {
    const sockets: WebSocket[] = [];
    const follower = open({
      openSocket: (url) => {
        const socket = new WebSocket(url);
        sockets.push(socket);
        return socket;
      },
    });
    const writer = open();
    const { lastSyncId: after } = await writer.mutateOrThrow([task('Start')]);
    const events = follower.follow({ after, signal: AbortSignal.timeout(90_000) });
    await until(events, ({ type }) => type === 'subscribed');
    const expected: bigint[] = [];
    const seen: SyncEvent[] = [];
    for (let round = 0; round < 4; round += 1) {
      if (round === 2) await testSystem.service('sync').restart();
      else if (round > 0) sockets.at(-1)?.close();
      const { results } = await writer.mutateOrThrow([task('One'), task('Two')]);
      expected.push(...results.map((result) => BigInt(result.success ? result.syncId : 0)));
      seen.push(...(await until(events, reaches(String(expected.at(-1))))));
    }
    await events.return();
    assert.deepEqual(idsOf(seen), expected);
    assert.ok(sockets.length >= 4);
  });

  it('that reads slowly loses the connection but no entry', async () => {
    const writer = open();
    const { lastSyncId: after } = await writer.mutateOrThrow([task('Start')]);
    const changes = Array.from({ length: 100 }, (_, at) => task(`${at} ${'x'.repeat(400)}`));
    let connections = 0;
    let frames = 0;
    const reader = open({
      openSocket: (url) => {
        connections += 1;
        const socket = new WebSocket(url);
        socket.addEventListener('message', () => (frames += 1));
        return socket;
      },
    });
    const events = reader.follow({ after, signal: signal(), bufferCharsMax: 1_000 });
    await until(events, ({ type }) => type === 'subscribed');
    const written = [await writer.mutateOrThrow(changes.slice(0, 50)), await writer.mutateOrThrow(changes.slice(50))];
    // Several frames arrive before the test reads one.
    await eventually(() => frames > 2);
    const seen = await until(events, reaches(written[1]?.lastSyncId ?? ''));
    await events.return();
    assert.deepEqual(
      idsOf(seen),
      written.flatMap(({ results }) => results.map((result) => BigInt(result.success ? result.syncId : 0))),
    );
    assert.ok(connections > 1, 'the connection was never given up');
  });

  it('loads a new snapshot when the log does not have the entries after its cursor', async () => {
    const events = open().follow({ after: '999999999999', signal: signal() });
    const seen = await until(events, ({ type }) => type === 'subscribed');
    assert.deepEqual([...new Set(seen.map(({ type }) => type))], ['reset', 'records', 'loaded', 'subscribed']);
    await events.return();
    await assert.rejects(open().deltas('999999999999'), { code: 'bootstrap_required', status: 409 });
  });

  it('rejects with the error of the server when its credential is wrong', async () => {
    const events = open({ token: () => 'wrong' }).follow({ after: '0', signal: signal() });
    await assert.rejects(events.next(), { status: 401 });
  });

  it('applies a change once when its reply is lost', async () => {
    let calls = 0;
    const losing: typeof fetch = async (...request) => {
      const answer = await fetch(...request);
      calls += 1;
      if (calls === 1) throw new TypeError('the connection was lost behind the request');
      return answer;
    };
    const change = task('Once');
    const { results, lastSyncId } = await open({ fetch: losing }).mutateOrThrow([change]);
    assert.equal(calls, 2);
    const [result] = results;
    const after = String(BigInt(lastSyncId) - 1n);
    const { actions } = await open().deltas(after);
    const made = actions.filter(({ modelId }) => modelId === change.modelId);
    assert.deepEqual(
      made.map(({ syncId }) => syncId),
      [result?.success === true ? result.syncId : ''],
    );
  });

  it('returns refusals and accepted results of one 200 response', async () => {
    const wrong: Change = { modelName: 'Task', modelId: randomUUID(), action: 'UPDATE', payload: { title: 'Nowhere' } };
    const [accepted, refused] = (await open().mutate([task('Right'), wrong])).results;
    assert.equal(accepted?.success, true);
    assert.ok(refused?.success === false && refused.code === 'not_found' && refused.error !== '');
    await assert.rejects(open().mutateOrThrow([wrong]), RefusedError);
  });

  it('runs in a real browser, from another origin (skipped where there is no Chromium)', async function browser() {
    const chromium = await openBrowser(this);
    try {
      const page = await chromium.newPage();
      await page.goto(origin);
      const found = await page.evaluate(
        async ({ page, baseUrl, token, change, ended }) => {
          const { SyncClient: Client } = (await import(`${page}/index.js`)) as { SyncClient: typeof SyncClient };
          const client = new Client({ baseUrl, token });
          const types = new Set<string>();
          for await (const event of client.follow({ signal: AbortSignal.timeout(ended) })) {
            types.add(event.type);
            if (event.type === 'subscribed') await client.mutateOrThrow([change]);
            if (event.type === 'delta' && event.actions.some(({ modelId }) => modelId === change.modelId)) break;
          }
          const elsewhere = new Client({ baseUrl: page.replace('127.0.0.1', 'localhost'), token });
          const { value: offline } = await elsewhere.follow().next();
          const advice = offline?.type === 'offline' ? offline.error.message : '';
          const refused = await client
            .follow({ after: 'x' })
            .next()
            .catch((error: unknown) => (error as { code?: string }).code);
          return { types: [...types], refused, advice };
        },
        {
          page: origin,
          baseUrl: testSystem.baseUrl,
          token: ann.token,
          change: task('From a browser'),
          ended: ENOUGH_MS,
        },
      );
      assert.deepEqual(found, {
        types: ['reset', 'records', 'loaded', 'subscribed', 'delta'],
        refused: 'validation_failed',
        advice: `The connection failed. When the server runs, it may not allow this page: its setting CORS_ORIGINS must list ${origin}`,
      });
    } finally {
      await chromium.close();
    }
  });
});
