import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { buildRecord, layoutOf, readInsert, Task, Workspace, type Model, type RecordOf } from '@wts/models';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import { Client } from 'pg';
import { auditSeries } from '../src/audit-series.ts';

const SERIES = randomUUID();
const workspaceId = randomUUID();
const AT = '2026-06-01T00:00:00.000Z';
const dayIn = (days: number): string => Temporal.Now.plainDateISO('UTC').add({ days }).toString();

/** A task of the series; the newest has a rule. */
function taskOn(startDate: string, more: Partial<RecordOf<typeof Task>> = {}): RecordOf<typeof Task> {
  const reading = readInsert(Task, { workspaceId, title: 'Weekly', startDate });
  assert.ok(reading.ok);
  const values = { ...reading.value, number: 1, creatorId: workspaceId, repeatTemplateId: SERIES, ...more };
  return buildRecord(Task, randomUUID(), values, { createdAt: AT, updatedAt: AT });
}
const newestOn = (startDate: string, more: Partial<RecordOf<typeof Task>> = {}): RecordOf<typeof Task> =>
  taskOn(startDate, { repeatRule: 'FREQ=DAILY', repeatAnchor: startDate, repeatIndex: 1, ...more });

describe('the audit of series', () => {
  let database: TestDatabase;
  let client: Client;
  let position = 0;

  before(async () => {
    database = await testDatabase('audit-series', { migrated: true });
    client = new Client({ connectionString: database.url });
    await client.connect();
    const values = { name: 'Home', urlKey: 'home', timeZone: 'UTC' };
    await store(Workspace, buildRecord(Workspace, workspaceId, values, { createdAt: AT, updatedAt: AT }));
  });
  beforeEach(() => client.query('delete from sync.tasks; delete from sync.sync_actions'));
  after(async () => {
    await client.end();
    await database.drop();
  });

  async function store(model: Model, record: RecordOf<Model>): Promise<void> {
    const { table, columns } = layoutOf(model);
    const typed = columns.map(({ field, type }) => `"${field}" ${type}`).join(', ');
    await client.query(
      `insert into ${table} (${columns.map(({ name }) => name).join(', ')}, workspace_id, group_id, record)
       select ${columns.map(({ field }) => `"${field}"`).join(', ')}, $2, $2, $1 from json_to_record($1) as r(${typed})`,
      [JSON.stringify(record), workspaceId],
    );
  }
  async function append(action: string, record: RecordOf<typeof Task>, at = AT): Promise<void> {
    await client.query(
      `insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, changed, actor_id, client_id, client_tx_id, created_at)
       values ($1, gen_random_uuid(), $2, $2, 'Task', $3, $4, $5, '{}', $2, 'c', 't', $6)`,
      [(position += 1), workspaceId, record.id, action, JSON.stringify(record), at],
    );
  }
  const findings = async (): Promise<string[]> =>
    (await auditSeries(client)).findings.map(({ guarantee }) => guarantee);

  it('finds two tasks that were made for one day', async () => {
    const first = taskOn('2026-06-01');
    await append('INSERT', first);
    await append('INSERT', taskOn('2026-06-02'));
    assert.deepEqual(await findings(), []);
    // Into a private project and out of it.
    await append('INSERT', first, '2026-06-05T00:00:00.000Z');
    assert.deepEqual(await findings(), []);
    await append('INSERT', taskOn('2026-06-02'));
    assert.deepEqual(await findings(), ['series-once']);
  });

  it('finds no fault in a day that came again because a person moved the newest task back, or because days count from completion', async () => {
    const newest = newestOn('2026-06-02');
    await append('INSERT', newest);
    await append('UPDATE', { ...newest, startDate: '2026-06-01' });
    await append('INSERT', newestOn('2026-06-02'));
    await append('INSERT', taskOn('2026-06-09', { repeatFrom: 'completion' }));
    await append('INSERT', taskOn('2026-06-09', { repeatFrom: 'completion' }));
    assert.deepEqual(await findings(), []);
  });

  it('finds a task that was not made although its day has come, unless the series stopped for a reason', async () => {
    const due = newestOn(dayIn(-3));
    await store(Task, due);
    assert.deepEqual(await findings(), ['series-complete']);
    await client.query(`update sync.tasks set repeat_error = 'No place'`);
    assert.deepEqual(await findings(), []);
    await client.query(`update sync.tasks set repeat_error = null, repeat_waiting = true, repeat_next_date = $1`, [
      dayIn(1),
    ]);
    assert.deepEqual(await findings(), []);
    await client.query(`update sync.tasks set repeat_waiting = false, start_date = $1`, [dayIn(1)]);
    assert.deepEqual(await findings(), []);
    await client.query('update sync.tasks set completed_at = now(), repeat_next_date = $1', [dayIn(-2)]);
    assert.deepEqual(await findings(), ['series-complete']);
  });
});
