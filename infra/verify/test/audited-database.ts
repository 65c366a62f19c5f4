import { testDatabase } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

/** A database with one team and its log entries. Tests break it, so that audits have something to find, and `reset` mends it. */
export class AuditedDatabase implements AsyncDisposable {
  readonly client: Client;
  readonly workspaceId = randomUUID();
  readonly userId = randomUUID();
  readonly now = '2026-11-21T09:00:00.000Z';
  readonly team;
  readonly #drop: () => Promise<void>;

  private constructor(client: Client, drop: () => Promise<void>) {
    this.client = client;
    this.#drop = drop;
    const { workspaceId, now: createdAt } = this;
    const id = randomUUID();
    this.team = { id, workspaceId, key: 'T', name: 'Team', description: null, createdAt, updatedAt: createdAt };
  }

  static async open(): Promise<AuditedDatabase> {
    const database = await testDatabase('audit', { migrated: true });
    const audited = new AuditedDatabase(new Client({ connectionString: database.url }), () => database.drop());
    await audited.client.connect();
    await audited.client.query('create temporary table new_log_state as select * from sync.log_state');
    return audited;
  }

  /** Resolves to the ids of the events of its entries, 1, 2 and 3. */
  async reset(): Promise<string[]> {
    const tables = ['teams', 'team_members', 'sync_actions', 'log_state'];
    await this.client.query(tables.map((table) => `delete from sync.${table}`).join(';'));
    await this.client.query('insert into sync.log_state select * from new_log_state');
    await this.client.query(
      `insert into sync.teams (id, workspace_id, key, name, created_at, updated_at, group_id, record) values ($1, $2, 'T', 'Team', $3, $3, $2, $4)`,
      [this.team.id, this.workspaceId, this.now, JSON.stringify(this.record)],
    );
    return [await this.append(1), await this.append(2), await this.append(3)];
  }

  get record() {
    return { ...this.team, archivedAt: null };
  }

  /** Resolves to the id of its event. */
  async append(
    position: number,
    group = this.workspaceId,
    action = position === 1 ? 'INSERT' : 'UPDATE',
  ): Promise<string> {
    const { rows } = await this.client.query<{ event_id: string }>(
      `insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, changed, actor_id, client_id, client_tx_id, created_at)
       values ($1, gen_random_uuid(), $2, $3, 'Team', $4, $5, $6, '{}', $7, 'c', 't', $8) returning event_id::text`,
      [position, this.workspaceId, group, this.team.id, action, JSON.stringify(this.record), this.userId, this.now],
    );
    return rows[0]?.event_id ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.end();
    await this.#drop();
  }
}
