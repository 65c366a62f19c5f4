import { encodeChunk, ensureStream, messageIdOf } from '@wts/log/stream';
import { STREAM, type EntryChunk } from '@wts/contracts';
import { testNats } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { NatsConnection } from 'nats';
import { auditStream } from '../src/audit-stream.ts';
import { connectToBroker } from '../src/broker.ts';
import { Table } from './table.ts';

const BEHIND_MS_MAX = 300;

describe('the audit of the stream', function () {
  this.timeout(60_000);
  let stack: AsyncDisposableStack;
  let table: Table;
  let nc: NatsConnection;
  let server: Awaited<ReturnType<typeof testNats>>;
  /** Of the places 1, 2 and 3. */
  let events: string[];

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    table = stack.use(await Table.set(0));
    events = [await table.append(1), await table.append(2), await table.append(3)];
    server = stack.use(await testNats('audit-stream'));
    nc = stack.adopt(await connectToBroker(server.url), (one) => one.close());
    await ensureStream(nc, { replicas: 1 });
  });
  afterEach(() => stack.disposeAsync());

  async function publish(first: number, last: number, changed: Partial<EntryChunk> = {}, of = events): Promise<void> {
    const { team, workspaceId, userId, now, record } = table;
    const chunk: EntryChunk = {
      epoch: 'one',
      first: String(first),
      last: String(last),
      prev: String(first - 1),
      actions: Array.from({ length: last - first + 1 }, (_, index) => ({
        syncId: String(first + index),
        modelName: 'Team',
        modelId: team.id,
        action: 'INSERT',
        data: record,
        groupId: workspaceId,
        clientTxId: 't',
        clientId: 'c',
        createdAt: now,
        eventId: of[first + index - 1] ?? randomUUID(),
        workspaceId,
        actorId: userId,
        record,
        changed: [],
      })),
      ...changed,
    };
    await nc.jetstream().publish(STREAM.subject, encodeChunk(chunk), { msgID: messageIdOf(chunk) });
  }
  const seen = async (): Promise<string[]> => {
    const { findings } = await auditStream(nc, table.client, { behindMsMax: BEHIND_MS_MAX });
    assert.ok(findings.every(({ promise }) => promise === 'stream-is-log'));
    return findings.map((finding) => finding.seen);
  };

  it('is content with one that is the log', async () => {
    await publish(1, 1);
    await publish(2, 3);
    assert.deepEqual(await auditStream(nc, table.client, { behindMsMax: BEHIND_MS_MAX }), { chunks: 2, findings: [] });
  });

  it('finds one that does not come to where the log is, also one that is not there', async () => {
    await publish(1, 2);
    assert.deepEqual(await seen(), ['the stream has come to 2, the log was at 3 long before']);
    await (await nc.jetstreamManager()).streams.delete(STREAM.name);
    assert.deepEqual(await seen(), ['the stream has come to 0, the log was at 3 long before']);
  });

  it('waits for one that is on its way', async () => {
    await publish(1, 1);
    const audited = auditStream(nc, table.client);
    await publish(2, 3);
    assert.deepEqual((await audited).findings, []);
  });

  it('ends with a finding when the broker dies meanwhile and does not come back [never.unbounded]', async () => {
    for (let place = 1; place <= 3; place += 1) await publish(place, place);
    const waits = { behindMsMax: BEHIND_MS_MAX, silentMsMax: BEHIND_MS_MAX };
    const audited = auditStream(nc, table.client, waits);
    await server.kill();
    const { findings } = await audited;
    assert.match(findings.map((finding) => finding.seen).join('; '), /could not be (?:looked at|read) .*for 300 ms/);
  });

  it('reads on where it was when the broker dies meanwhile and comes back', async () => {
    for (let place = 1; place <= 3; place += 1) await publish(place, place);
    await server.kill();
    const audited = auditStream(nc, table.client);
    await server.start();
    assert.deepEqual(await audited, { chunks: 3, findings: [] });
  });

  it('finds a chunk that left something out', async () => {
    await publish(1, 1);
    await publish(3, 3);
    assert.deepEqual(await seen(), ['chunk 3-3 says it follows 2; before it stands 1']);
  });

  it('finds an entry that is not the log’s', async () => {
    await publish(1, 3, {}, [events[0] ?? '', randomUUID(), events[2] ?? '']);
    assert.deepEqual(await seen(), ["entry 2 of the stream is not the log's"]);
  });

  it('accepts a chunk of which the log has trimmed the beginning', async () => {
    await publish(1, 3);
    await table.client.query('delete from sync.sync_actions where sync_id <= 2');
    assert.deepEqual(await seen(), [
      "entry 1 of the stream is not the log's",
      "entry 2 of the stream is not the log's",
      'chunk 1-3 has 3 entries, the log 1',
    ]);
    await table.client.query('update sync.log_state set floor = 2');
    assert.deepEqual(await seen(), []);
  });

  it('finds a chunk of places that the log does not have', async () => {
    await publish(1, 3);
    await publish(4, 4);
    assert.deepEqual(await seen(), ["entry 4 of the stream is not the log's", 'chunk 4-4 has 1 entries, the log 0']);
  });
});
