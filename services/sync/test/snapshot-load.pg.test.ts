import { eventually, freePort } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { MODEL_NAMES } from '@wts/models';
import { caller, idsOf, parseBootstrap, parseLines, TestSyncService } from './test-sync-service.ts';

const TASKS = 12_000;
/** Of a workspace that hundreds load at the same time. */
const STORM_TASKS = 200;

describe('snapshots under load', () => {
  let sync: TestSyncService;
  let ada: string;
  let home: string;
  let metricsUrl: string;
  /** The persons of whom the auth service says that all credentials were revoked. */
  const revoked: string[] = [];
  let polls = 0;
  const auth = createServer((_req, res) => {
    polls += 1;
    const at = new Date().toISOString();
    const credentials = revoked.map((userId) => ({ id: userId, userId, revokedAt: at, isAll: true }));
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ at, credentials }));
  });
  before(async () => {
    await once(auth.listen(0, '127.0.0.1'), 'listening');
    const AUTH_SERVICE_URL = `http://127.0.0.1:${(auth.address() as AddressInfo).port}`;
    const port = await freePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    sync = await TestSyncService.open('snapshot-load', { METRICS_PORT: String(port), AUTH_SERVICE_URL });
    ada = await sync.person('Ada');
    home = await sync.workspace(ada);
    await sync.fillTasks(home, TASKS);
  });
  after(async () => {
    await sync[Symbol.asyncDispose]();
    auth.close();
    auth.closeAllConnections();
  });

  const metric = async (name: string): Promise<number> => {
    const answer = await fetch(metricsUrl, { headers: { connection: 'close' } });
    const lines = (await answer.text()).split('\n');
    const line = lines.find((one) => one.startsWith(`${name}{`) && one.includes('kind="bootstrap"'));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  /** Makes a change, so that no earlier snapshot can be shared. */
  const change = (): Promise<string> => sync.insert('Label', { workspaceId: home, name: 'Change' }, ada);

  it('use no connection for a client that does not read, and send it everything in the end [sync.bootstrap.pace]', async () => {
    await change();
    const answer = await sync.raw('/sync/bootstrap', caller(ada));
    await eventually(async () => (await metric('wts_snapshot_running')) === 0 && (await sync.busyConnections()) === 0);
    const before = process.memoryUsage().rss;
    const others = await Promise.all(Array.from({ length: 12 }, () => sync.raw('/sync/bootstrap', caller(ada))));
    await change();
    assert.ok(process.memoryUsage().rss - before < 100_000_000);
    for (const one of others) one.destroy();
    const { rows } = parseBootstrap(await text(answer));
    assert.equal(idsOf(rows, 'Task').length, TASKS);
  });

  it('are cancelled when their only client disconnects, and give their connection back [sync.bootstrap.pace]', async () => {
    await change();
    await sync.whileHeld('sync.comments', async () => {
      const leaving = await sync.raw('/sync/bootstrap', caller(ada));
      await eventually(async () => (await sync.busyConnections()) > 0);
      leaving.destroy();
      await eventually(async () => (await metric('wts_snapshot_running')) === 0);
    });
    await eventually(async () => (await sync.busyConnections()) === 0);
    const { rows } = await sync.bootstrap(ada);
    assert.equal(idsOf(rows, 'Task').length, TASKS);
  });

  it('end with the credential of their caller, also before their first byte [sync.bootstrap.credential-dies]', async () => {
    const bob = await sync.person('Bob');
    await sync.join(bob, home);
    const [own, other] = await Promise.all([bob, ada].map((one) => sync.raw('/sync/bootstrap', caller(one))));
    assert.ok(own && other);
    // The next poll is two seconds later, and the lock makes readers wait for five.
    const before = polls;
    await eventually(() => polls > before);
    await sync.whileHeld('sync.workspace_members', async () => {
      const requests = [{ modelName: 'Task', groupId: home }];
      const waiting = sync.call('/sync/batch', { principal: caller(bob), body: { requests } });
      revoked.push(bob);
      assert.equal((await waiting).status, 401);
    });
    await assert.rejects(text(own), { code: 'ECONNRESET' });
    assert.equal(idsOf(parseBootstrap(await text(other)).rows, 'Task').length, TASKS, 'those of others are whole');
  });

  it('that fail end with an error line and without an end of the body [sync.bootstrap.lines]', async () => {
    for (const encoding of ['identity', 'gzip']) {
      await change();
      await sync.whileHeld('sync.comments', async () => {
        const answer = await sync.raw('/sync/bootstrap', caller(ada), { 'accept-encoding': encoding });
        await eventually(async () => (await sync.busyConnections()) > 0);
        await sync.sql.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'active' and query like '%copy (%' and pid <> pg_backend_pid()`,
        );
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        await assert.rejects(once(answer, 'end'), { code: 'ECONNRESET' });
        if (encoding === 'gzip') return;
        const lines = parseLines(Buffer.concat(pieces).toString());
        assert.deepEqual(lines.at(-1), { type: 'error', message: 'Loading broke off; load again' });
      });
    }
    const { rows } = await sync.bootstrap(ada);
    assert.equal(idsOf(rows, 'Task').length, TASKS, 'the next one is whole');
  });

  it('serve 60 parallel callers from a few reads [sync.bootstrap.reconnect-storm]', async () => {
    const office = await sync.workspace(await sync.person('Owner'));
    await sync.fillTasks(office, STORM_TASKS);
    const people = await Promise.all(Array.from({ length: 15 }, (_, index) => sync.person(`Person ${index}`)));
    for (const person of people) await sync.join(person, office);
    const rowsBefore = await metric('wts_snapshot_rows_total');
    const callers = Array.from({ length: 60 }, (_, index) => people[index % people.length] ?? ada);
    const answers = await Promise.all(
      callers.map(async (userId) => {
        const answer = await sync.raw('/sync/bootstrap', caller(userId), { 'accept-encoding': 'gzip' });
        assert.equal(answer.statusCode, 200);
        const { metadata, rows } = parseBootstrap(await buffer(answer));
        assert.deepEqual(metadata.subscribedSyncGroups, [userId, office]);
        return rows.length;
      }),
    );
    assert.equal(new Set(answers).size, 1);
    const rowsRead = (await metric('wts_snapshot_rows_total')) - rowsBefore;
    assert.ok(rowsRead <= 4 * (answers[0] ?? 0), `${rowsRead} rows were read`);
    assert.ok((await metric('wts_snapshot_shared_total')) >= 55);
  });

  it('serve a reconnect storm from a few reads, also while others write [sync.bootstrap.reconnect-storm]', async () => {
    const olga = await sync.person('Olga');
    const office = await sync.workspace(olga);
    await sync.fillTasks(office, STORM_TASKS);
    const rowsBefore = await metric('wts_snapshot_rows_total');
    const query = `/sync/bootstrap?syncGroups=${office}`;
    let isOver = false;
    const writing = (async () => {
      while (!isOver) await sync.insert('Label', { workspaceId: office, name: 'Meanwhile' }, olga);
    })();
    const answers = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const answer = await sync.raw(query, caller(olga));
        const body = await text(answer);
        // On a slow machine some are refused; the failure must show it.
        assert.equal(answer.statusCode, 200, body);
        return parseBootstrap(body);
      }),
    );
    isOver = true;
    await writing;
    assert.ok(answers.every(({ rows }) => idsOf(rows, 'Task').length === STORM_TASKS));
    const rowsRead = (await metric('wts_snapshot_rows_total')) - rowsBefore;
    assert.ok(rowsRead <= 20 * (STORM_TASKS + 200), `${rowsRead} rows were read`);
  });

  it('beyond the queue are refused with Retry-After, and do not delay those in the queue [sync.bootstrap.reconnect-storm]', async () => {
    const lists = MODEL_NAMES.filter((name) => name !== 'Comment');
    const subsets = Array.from({ length: 90 }, (_, index) =>
      lists.filter((_name, bit) => ((index + 1) >> (bit % 7)) % 2 === 1).concat('Comment'),
    );
    const distinct = [...new Set(subsets.map(String))];
    await change();
    await sync.whileHeld('sync.comments', async () => {
      const disconnect = new AbortController();
      const answers = distinct.map((onlyModels) =>
        sync.call(`/sync/bootstrap?onlyModels=${onlyModels}`, { principal: caller(ada), signal: disconnect.signal }),
      );
      const settled = Promise.allSettled(answers);
      const refused = await Promise.any(
        answers.map(async (one) => {
          const answer = await one;
          assert.equal(answer.status, 503);
          return answer;
        }),
      );
      assert.match(refused.headers.get('retry-after') ?? '', /^(?:[1-9]|[12]\d|30)$/);
      assert.equal(((await refused.json()) as { code: string }).code, 'unavailable');
      disconnect.abort();
      await settled;
      await eventually(async () => (await metric('wts_snapshot_waiting')) === 0);
    });
    assert.ok((await metric('wts_snapshot_refused_total')) > 0);
    await eventually(async () => (await metric('wts_snapshot_running')) === 0);
    assert.equal(idsOf((await sync.bootstrap(ada)).rows, 'Task').length, TASKS);
  });
});
