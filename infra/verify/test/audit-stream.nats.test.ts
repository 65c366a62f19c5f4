import { encodeChunk, ensureStream, messageIdOf } from '@wts/log/stream';
import { STREAM, type EntryChunk } from '@wts/contracts';
import { testNats } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { NatsConnection } from 'nats';
import { auditStream } from '../src/audit-stream.ts';
import { connectToBroker } from '../src/broker.ts';
import { AuditedDatabase } from './audited-database.ts';

const BEHIND_MS_MAX = 300;

describe('the audit of the stream', () => {
  let stack: AsyncDisposableStack;
  let audited: AuditedDatabase;
  let nc: NatsConnection;
  let server: Awaited<ReturnType<typeof testNats>>;
  /** The event ids of the positions 1, 2 and 3. */
  let events: string[];
  /** The epoch of the log. */
  let epoch: string;

  before(async () => (audited = await AuditedDatabase.open()));
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    events = await audited.reset();
    const { rows } = await audited.client.query<{ epoch: string }>('select epoch::text from sync.log_state');
    epoch = rows[0]?.epoch ?? '';
    server = stack.use(await testNats('audit-stream'));
    nc = stack.adopt(await connectToBroker(server.url), (one) => one.close());
    await ensureStream(nc, { replicas: 1 });
  });
  afterEach(() => stack.disposeAsync());
  after(() => audited[Symbol.asyncDispose]());

  async function publish(first: number, last: number, changed: Partial<EntryChunk> = {}, of = events): Promise<void> {
    const { team, workspaceId, userId, now, record } = audited;
    const chunk: EntryChunk = {
      epoch,
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
        completes: false,
      })),
      ...changed,
    };
    await nc.jetstream().publish(STREAM.subject, encodeChunk(chunk), { msgID: messageIdOf(chunk) });
  }
  const seen = async (): Promise<string[]> => {
    const { findings } = await auditStream(nc, audited.client, { behindMsMax: BEHIND_MS_MAX });
    assert.ok(findings.every(({ guarantee }) => guarantee === 'stream-is-log'));
    return findings.map((finding) => finding.seen);
  };

  it('finds nothing when the stream equals the log', async () => {
    await publish(1, 1);
    await publish(2, 3);
    assert.deepEqual(await auditStream(nc, audited.client, { behindMsMax: BEHIND_MS_MAX }), {
      chunks: 2,
      findings: [],
    });
  });

  it('finds a stream that ends before the log, and a missing stream', async () => {
    await publish(1, 2);
    assert.deepEqual(await seen(), ['the stream ends at 2, although the log reached 3 300 ms before']);
    await (await nc.jetstreamManager()).streams.delete(STREAM.name);
    assert.deepEqual(await seen(), ['the stream ends at 0, although the log reached 3 300 ms before']);
  });

  it('waits for a chunk that the relay is still publishing', async () => {
    await publish(1, 1);
    const auditing = auditStream(nc, audited.client);
    await publish(2, 3);
    assert.deepEqual((await auditing).findings, []);
  });

  it('reports a finding when the broker dies and does not restart [never.unbounded]', async () => {
    for (let position = 1; position <= 3; position += 1) await publish(position, position);
    const waits = { behindMsMax: BEHIND_MS_MAX, silentMsMax: BEHIND_MS_MAX };
    const auditing = auditStream(nc, audited.client, waits);
    await server.kill();
    const { findings } = await auditing;
    assert.match(
      findings.map((finding) => finding.seen).join('; '),
      /could not be read .*for 300 ms|could not be read for 300 ms/,
    );
  });

  it('continues when the broker dies and restarts', async () => {
    for (let position = 1; position <= 3; position += 1) await publish(position, position);
    await server.kill();
    const auditing = auditStream(nc, audited.client);
    await server.start();
    assert.deepEqual(await auditing, { chunks: 3, findings: [] });
  });

  it('finds a missing chunk', async () => {
    await publish(1, 1);
    await publish(3, 3);
    assert.deepEqual(await seen(), ['chunk 3-3 names 2 as the entry before it; it follows 1']);
  });

  it('finds an entry that differs from the log', async () => {
    await publish(1, 3, {}, [events[0] ?? '', randomUUID(), events[2] ?? '']);
    assert.deepEqual(await seen(), ['entry 2 of the stream differs from the log']);
  });

  it('finds entries that differ from the log, in chunks of an earlier epoch of it too', async () => {
    const [earlier, other] = [{ epoch: randomUUID() }, { epoch: randomUUID() }];
    await publish(1, 1, earlier, []);
    await publish(1, 1, other, []);
    await publish(2, 2, earlier);
    await publish(3, 3, earlier, []);
    await publish(3, 3, {}, []);
    assert.deepEqual(await seen(), [
      'entry 1 of the stream differs from the log',
      'entry 3 of the stream differs from the log',
      'entry 3 of the stream differs from the log',
    ]);
  });

  it('accepts a chunk whose first entries the log has trimmed', async () => {
    await publish(1, 3);
    await audited.client.query('delete from sync.sync_actions where sync_id <= 2');
    assert.deepEqual(await seen(), [
      'entry 1 of the stream differs from the log',
      'entry 2 of the stream differs from the log',
      'chunk 1-3 has 3 entries, the log 1',
    ]);
    await audited.client.query('update sync.log_state set floor = 2');
    assert.deepEqual(await seen(), []);
  });

  it('finds a chunk with positions that the log lacks', async () => {
    await publish(1, 3);
    await publish(4, 4);
    assert.deepEqual(await seen(), [
      'entry 4 of the stream differs from the log',
      'chunk 4-4 has 1 entries, the log 0',
    ]);
  });

  it('accepts a chunk of an earlier epoch whose entries were lost with a primary, or came after the backup that was restored', async () => {
    await publish(1, 3);
    await publish(4, 4);
    await audited.client.query('update sync.log_state set began_at = 1000');
    assert.deepEqual(await seen(), []);
  });

  it('passes over chunks of another database that had the same NATS before', async () => {
    const other = { epoch: randomUUID() };
    await publish(1, 2, other, []);
    await publish(3, 9, other, []);
    await publish(10, 10, other, []);
    await publish(1, 3);
    assert.deepEqual(await seen(), []);
    await audited.client.query('update sync.log_state set began_at = 1000');
    assert.deepEqual(await seen(), []);
  });
});
