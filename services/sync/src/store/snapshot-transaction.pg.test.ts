import { Label, Task } from '@wts/models';
import { eventually, testDatabase, type TestDatabase } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import type { LineSink } from './copy-rows.ts';
import { SnapshotTransaction } from './snapshot-transaction.ts';

const everything = [
  { model: Label, where: 'true' },
  { model: Task, where: 'true' },
];

/** Collects lines; `hold` makes PostgreSQL wait. */
class Collector implements LineSink {
  readonly #pieces: Buffer[] = [];
  hold: Promise<void> | undefined;
  bytes = 0;

  write(lines: Buffer): Promise<void> | undefined {
    this.#pieces.push(Buffer.from(lines));
    this.bytes += lines.length;
    return this.hold;
  }

  get lines(): string[] {
    return Buffer.concat(this.#pieces).toString().split('\n').slice(0, -1);
  }
}

describe('a snapshot', () => {
  let database: TestDatabase;
  let pool: Pool;
  let admin: Pool;
  const userId = randomUUID();
  before(async () => {
    database = await testDatabase('snapshot', { migrated: true });
    admin = new Pool({ connectionString: database.url, max: 2 });
  });
  beforeEach(async () => {
    pool = new Pool({ connectionString: database.urlOf('wts_sync'), max: 2, application_name: 'snapshot' });
    pool.on('error', () => {});
    await admin.query('truncate sync.labels, sync.tasks');
  });
  afterEach(() => pool.end());
  after(async () => {
    await admin.end();
    await database.drop();
  });

  async function insertLabels(records: readonly string[]): Promise<void> {
    await admin.query(
      `insert into sync.labels (id, name, created_at, updated_at, group_id, record)
       select gen_random_uuid(), 'Label', now(), now(), gen_random_uuid(), record::json from unnest($1::text[]) as record`,
      [records],
    );
  }

  it('returns the stored text of every record byte by byte, with its class, for any content and length', async () => {
    const records = [
      '{"a":1}',
      '{"text":"\\u0000 \\\\ \\" \\n \\\\. | , ; \u007f é 漢 👩‍👩‍👧"}',
      '{ "spaces" : "kept" , "numbers" : 1.50e10 }',
      `{"long":"${'ü'.repeat(300_000)}"}`,
      ...Array.from({ length: 3000 }, (_, index) => `{"index":${index},"pad":"${'x'.repeat(index % 400)}"}`),
    ];
    await insertLabels(records);
    await using snapshot = await SnapshotTransaction.open(pool, userId, null);
    const sink = new Collector();
    assert.equal(await snapshot.copy(everything, sink), records.length);
    const expected = records.map((record) => `{"__class":"Label",${record.slice(1)}`);
    assert.deepEqual(sink.lines.sort(), expected.sort());
  });

  it('is consistent over several reads while others write', async () => {
    await insertLabels(['{"first":true}']);
    await using snapshot = await SnapshotTransaction.open(pool, userId, null);
    await insertLabels(['{"second":true}']);
    for (let times = 0; times < 2; times += 1) {
      const sink = new Collector();
      await snapshot.copy(everything, sink);
      assert.deepEqual(sink.lines, ['{"__class":"Label","first":true}']);
    }
  });

  it('returns its connection clean: the next snapshot reads later changes', async () => {
    for (const count of [1, 2, 3]) {
      await insertLabels(['{"label":true}']);
      await using snapshot = await SnapshotTransaction.open(pool, userId, null);
      assert.equal(await snapshot.copy(everything, new Collector()), count);
    }
    assert.deepEqual([pool.totalCount, pool.idleCount], [1, 1]);
    assert.equal(
      (await pool.query<{ mode: string }>(`select current_setting('transaction_read_only') as mode`)).rows[0]?.mode,
      'off',
    );
  });

  it('makes PostgreSQL wait while the sink is full, and reads little in advance', async () => {
    await insertLabels(Array.from({ length: 12_000 }, (_, index) => `{"index":${index},"pad":"${'x'.repeat(1000)}"}`));
    await using snapshot = await SnapshotTransaction.open(pool, userId, null);
    const sink = new Collector();
    const held = Promise.withResolvers<void>();
    sink.hold = held.promise;
    const copying = snapshot.copy(everything, sink);
    await eventually(async () => {
      const { rows } = await admin.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'ClientWrite'`,
      );
      return rows.length > 0;
    });
    assert.ok(sink.bytes < 2_000_000, `${sink.bytes} bytes were read ahead`);
    sink.hold = undefined;
    held.resolve();
    assert.equal(await copying, 12_000);
    assert.equal(new Set(sink.lines).size, 12_000);
  });

  it('that becomes too old ends with its connection [never.unbounded]', async () => {
    await insertLabels(Array.from({ length: 12_000 }, (_, index) => `{"index":${index},"pad":"${'x'.repeat(1000)}"}`));
    const snapshot = await SnapshotTransaction.open(pool, userId, null, 300);
    const sink = new Collector();
    sink.hold = new Promise(() => {});
    await assert.rejects(snapshot.copy(everything, sink), { name: 'SnapshotTooOld' });
    assert.equal(pool.totalCount, 0);
    await assert.rejects(snapshot.copy(everything, new Collector()), { name: 'SnapshotTooOld' });
    await snapshot.close();
  });

  it('whose sink fails ends with that error', async () => {
    await insertLabels(['{"label":true}']);
    const snapshot = await SnapshotTransaction.open(pool, userId, null);
    const sink = { write: () => Promise.reject(new Error('the disk is full')) };
    await assert.rejects(snapshot.copy(everything, sink), { message: 'the disk is full' });
    assert.equal(pool.totalCount, 0);
  });

  it('whose connection is lost rejects, also between two statements, and the process continues', async () => {
    const snapshot = await SnapshotTransaction.open(pool, userId, null);
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'snapshot'`,
    );
    await assert.rejects(snapshot.copy(everything, new Collector()));
    await eventually(() => pool.totalCount === 0);
  });

  it('is opened for ids only: no other text becomes part of a statement', async () => {
    await assert.rejects(SnapshotTransaction.open(pool, `${userId}' or true --`, null));
    await assert.rejects(SnapshotTransaction.open(pool, userId, `'`));
  });
});
