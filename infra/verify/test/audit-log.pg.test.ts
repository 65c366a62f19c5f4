import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { auditLog } from '../src/audit-log.ts';
import { AuditedDatabase } from './audited-database.ts';

describe('the audit of log and tables', () => {
  let audited: AuditedDatabase;

  before(async () => (audited = await AuditedDatabase.open()));
  beforeEach(() => audited.reset());
  after(() => audited[Symbol.asyncDispose]());

  const brokenGuarantees = async (): Promise<string[]> =>
    (await auditLog(audited.client)).findings.map(({ guarantee }) => guarantee);

  it('finds nothing in a correct log', async () => {
    assert.deepEqual(await brokenGuarantees(), []);
  });

  it('finds a missing position, where there may be no gaps', async () => {
    await audited.client.query('update sync.log_state set gap_max = 0');
    await audited.client.query('delete from sync.sync_actions where sync_id = 2');
    assert.deepEqual(await brokenGuarantees(), ['dense']);
  });

  it('finds an entry whose group does not exist', async () => {
    await audited.append(4, randomUUID());
    assert.deepEqual(await brokenGuarantees(), ['one-group']);
  });

  it('finds a row that differs from its last entry', async () => {
    await audited.client.query(`update sync.teams set name = 'Other', record = $1`, [
      JSON.stringify({ ...audited.record, name: 'Other' }),
    ]);
    assert.deepEqual(await brokenGuarantees(), ['state-is-log']);
  });

  it('finds a deleted row without a DELETE entry, and a row that a DELETE entry left', async () => {
    await audited.append(4, audited.workspaceId, 'DELETE');
    assert.deepEqual(await brokenGuarantees(), ['state-is-log']);
    await audited.client.query('delete from sync.teams');
    assert.deepEqual(await brokenGuarantees(), []);
    await audited.append(5);
    assert.deepEqual(await brokenGuarantees(), ['state-is-log']);
  });

  it('finds a column that differs from its record', async () => {
    await audited.client.query(`update sync.teams set name = 'Other'`);
    assert.deepEqual(await brokenGuarantees(), ['columns-are-record']);
  });

  it('finds a record whose group differs from the group of its parent', async () => {
    const { team, userId, workspaceId, now } = audited;
    const member = { id: randomUUID(), teamId: team.id, userId, createdAt: now, updatedAt: now };
    await audited.client.query(
      `insert into sync.team_members (id, team_id, user_id, created_at, updated_at, workspace_id, group_id, record) values ($1, $2, $3, $4, $4, $5, $6, $7)`,
      [member.id, team.id, userId, now, workspaceId, randomUUID(), JSON.stringify(member)],
    );
    assert.deepEqual((await brokenGuarantees()).toSorted(), ['group-follows-parent', 'state-is-log']);
  });
});
