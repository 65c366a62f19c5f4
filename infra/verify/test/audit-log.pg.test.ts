import { testDatabase, type TestDatabase } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { auditLog } from '../src/audit-log.ts';

describe('the audit of log and tables', () => {
  let database: TestDatabase;
  let client: Client;
  const [workspaceId, teamId, userId] = [randomUUID(), randomUUID(), randomUUID()];
  const now = '2026-11-21T09:00:00.000Z';
  const team = {
    id: teamId,
    workspaceId,
    key: 'T',
    name: 'Team',
    description: null,
    createdAt: now,
    updatedAt: now,
    archivedAt: null,
  };

  beforeEach(async function () {
    this.timeout(60_000);
    database = await testDatabase('audit', { migrated: true });
    client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `insert into sync.teams (id, workspace_id, key, name, created_at, updated_at, group_id, record) values ($1, $2, 'T', 'Team', $3, $3, $2, $4)`,
      [teamId, workspaceId, now, JSON.stringify(team)],
    );
    for (const place of [1, 2, 3]) await append(place);
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  async function append(place: number, group = workspaceId): Promise<void> {
    await client.query(
      `insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, changed, actor_id, client_id, client_tx_id, created_at)
       values ($1, gen_random_uuid(), $2, $3, 'Team', $4, $5, $6, '{}', $7, 'c', 't', $8)`,
      [place, workspaceId, group, teamId, place === 1 ? 'INSERT' : 'UPDATE', JSON.stringify(team), userId, now],
    );
  }
  const promises = async (): Promise<string[]> => (await auditLog(client)).findings.map(({ promise }) => promise);

  it('finds nothing in a sound log', async () => {
    assert.deepEqual(await promises(), []);
  });

  it('finds a hole', async () => {
    await client.query('delete from sync.sync_actions where sync_id = 2');
    assert.deepEqual(await promises(), ['dense']);
  });

  it('finds an entry for a group that is nobody’s', async () => {
    await append(4, randomUUID());
    assert.deepEqual(await promises(), ['one-group']);
  });

  it('finds a row that says other than the log', async () => {
    await client.query(`update sync.teams set name = 'Other', record = $1`, [
      JSON.stringify({ ...team, name: 'Other' }),
    ]);
    assert.deepEqual(await promises(), ['state-is-log']);
  });

  it('finds a row that vanished, and one that should have', async () => {
    await client.query('delete from sync.teams');
    assert.deepEqual(await promises(), ['state-is-log']);
  });

  it('finds a column that differs from its record', async () => {
    await client.query(`update sync.teams set name = 'Other'`);
    assert.deepEqual(await promises(), ['columns-are-record']);
  });

  it('finds a part that is not where its whole is', async () => {
    const member = { id: randomUUID(), teamId, userId, createdAt: now, updatedAt: now };
    await client.query(
      `insert into sync.team_members (id, team_id, user_id, created_at, updated_at, workspace_id, group_id, record) values ($1, $2, $3, $4, $4, $5, $6, $7)`,
      [member.id, teamId, userId, now, workspaceId, randomUUID(), JSON.stringify(member)],
    );
    assert.deepEqual((await promises()).toSorted(), ['place-follows-parent', 'state-is-log']);
  });
});
