import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { auditLog } from '../src/audit-log.ts';
import { Table } from './table.ts';

describe('the audit of log and tables', function () {
  this.timeout(60_000);
  let table: Table;

  beforeEach(async () => {
    table = await Table.set();
  });
  afterEach(() => table[Symbol.asyncDispose]());

  const promises = async (): Promise<string[]> => (await auditLog(table.client)).findings.map(({ promise }) => promise);

  it('finds nothing in a sound log', async () => {
    assert.deepEqual(await promises(), []);
  });

  it('finds a hole', async () => {
    await table.client.query('delete from sync.sync_actions where sync_id = 2');
    assert.deepEqual(await promises(), ['dense']);
  });

  it('finds an entry for a group that is nobody’s', async () => {
    await table.append(4, randomUUID());
    assert.deepEqual(await promises(), ['one-group']);
  });

  it('finds a row that says other than the log', async () => {
    await table.client.query(`update sync.teams set name = 'Other', record = $1`, [
      JSON.stringify({ ...table.record, name: 'Other' }),
    ]);
    assert.deepEqual(await promises(), ['state-is-log']);
  });

  it('finds a row that vanished, and one that should have', async () => {
    await table.append(4, table.workspaceId, 'DELETE');
    assert.deepEqual(await promises(), ['state-is-log']);
    await table.client.query('delete from sync.teams');
    assert.deepEqual(await promises(), []);
    await table.append(5);
    assert.deepEqual(await promises(), ['state-is-log']);
  });

  it('finds a column that differs from its record', async () => {
    await table.client.query(`update sync.teams set name = 'Other'`);
    assert.deepEqual(await promises(), ['columns-are-record']);
  });

  it('finds a part that is not where its whole is', async () => {
    const { team, userId, workspaceId, now } = table;
    const member = { id: randomUUID(), teamId: team.id, userId, createdAt: now, updatedAt: now };
    await table.client.query(
      `insert into sync.team_members (id, team_id, user_id, created_at, updated_at, workspace_id, group_id, record) values ($1, $2, $3, $4, $4, $5, $6, $7)`,
      [member.id, team.id, userId, now, workspaceId, randomUUID(), JSON.stringify(member)],
    );
    assert.deepEqual((await promises()).toSorted(), ['place-follows-parent', 'state-is-log']);
  });
});
