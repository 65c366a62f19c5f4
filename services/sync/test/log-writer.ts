import type { EntryChunk, ActionName, StoredEntry } from '@wts/contracts';
import { chunkAfter } from '@wts/log/stream';
import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { append, type Appended } from '../src/store/log.ts';
import { runStatements } from '../src/store/prepared.ts';

export interface NewAction {
  readonly groupId: string;
  /** Its workspace, when that is not its group. */
  readonly workspaceId?: string | null;
  readonly action?: ActionName;
  readonly modelName?: string;
  readonly modelId?: string;
  readonly data?: { readonly [field: string]: unknown };
}

/**
 * Writes log entries as a commit does (same statement, same lock, same database transaction as their rows), but of any shape,
 * so that tests of the log's readers do not depend on the rules of models.
 */
export class LogWriter {
  readonly #pool: Pool;
  readonly #listeners: ((chunk: EntryChunk) => void)[] = [];
  /** Every entry that this writer committed, in order. */
  readonly committed: StoredEntry[] = [];

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The position of its last entry. A hub reaches it only later. */
  get last(): bigint {
    return BigInt(this.committed.at(-1)?.syncId ?? 0);
  }

  readonly onCommitted = (listener: (chunk: EntryChunk) => void): void => {
    this.#listeners.push(listener);
  };

  /** Commits the entries; with `silently`, without notifying listeners. */
  async append(
    actions: readonly NewAction[],
    options: { silently?: boolean; rows?: string } = {},
  ): Promise<EntryChunk> {
    const client = await this.#pool.connect();
    try {
      const chunk = await this.#commit(client, actions, options.rows ?? '');
      this.committed.push(...chunk.actions);
      this.committed.sort((a, b) => Number(BigInt(a.syncId) - BigInt(b.syncId)));
      if (options.silently !== true) for (const listener of this.#listeners) listener(chunk);
      return chunk;
    } finally {
      client.release();
    }
  }

  /**
   * The entries of these groups that a member of them must get: of each group, those after their latest gain of it. Computed in
   * the simplest way.
   */
  shown(userId: string, groups: readonly string[], after = 0n): StoredEntry[] {
    const gains = new Map<unknown, bigint>();
    for (const { groupId, modelName, action, record, syncId } of this.committed)
      if (groupId === userId && modelName === 'WorkspaceMember' && action === 'INSERT')
        gains.set(record['workspaceId'], BigInt(syncId));
    return this.committed.filter(({ groupId, syncId }) => {
      const position = BigInt(syncId);
      return groups.includes(groupId) && position > after && position > (gains.get(groupId) ?? 0n);
    });
  }

  /** Makes the person a member: one entry for the workspace, one for the person. */
  async join(userId: string, workspaceId: string): Promise<EntryChunk> {
    const id = randomUUID();
    const rows = `insert into sync.workspace_members (id, user_id, role, created_at, updated_at, workspace_id, group_id, record)
      values ('${id}', '${userId}', 'member', now(), now(), '${workspaceId}', '${workspaceId}', '{}')`;
    return this.append(membership('INSERT', id, userId, workspaceId), { rows });
  }

  async leave(userId: string, workspaceId: string): Promise<EntryChunk> {
    const rows = `delete from sync.workspace_members where user_id = '${userId}' and workspace_id = '${workspaceId}'`;
    return this.append(membership('DELETE', randomUUID(), userId, workspaceId), { rows });
  }

  async #commit(client: PoolClient, actions: readonly NewAction[], rows: string): Promise<EntryChunk> {
    const createdAt = new Date().toISOString();
    const full = actions.map((one, index) => ({
      offset: index + 1,
      eventId: randomUUID(),
      workspaceId: one.workspaceId === undefined ? one.groupId : one.workspaceId,
      groupId: one.groupId,
      modelName: one.modelName ?? 'Task',
      modelId: one.modelId ?? randomUUID(),
      action: one.action ?? ('UPDATE' as const),
      data: one.data ?? { title: `Täsk ${index}`, updatedAt: createdAt },
      changed: ['title'],
      completes: false,
      actorId: one.groupId,
      clientId: 'writer "quoted"',
      clientTxId: randomUUID(),
    }));
    const entries = full.map((one) => ({
      ...one,
      record: JSON.stringify({ id: one.modelId, ...one.data }),
      data: one.action === 'INSERT' ? null : JSON.stringify(one.data),
    }));
    const key = {
      userId: full[0]!.actorId,
      clientId: 'writer',
      clientTxId: randomUUID(),
      last: full.length,
      mains: [1],
    };
    const results = await runStatements(client, [
      `begin; ${rows || 'select'}`,
      ...append(entries, [key], createdAt),
      'commit',
    ]);
    const { head, base, epoch } = results.at(-2)!.rows[0] as Appended;
    const committed = full.map(({ offset, ...one }): StoredEntry => {
      const record = { id: one.modelId, ...one.data };
      const data = one.action === 'INSERT' ? record : one.data;
      return { ...one, syncId: (BigInt(base) + BigInt(offset)).toString(), createdAt, record, data };
    });
    const [first, ...others] = committed;
    return chunkAfter(epoch, head, [first!, ...others]);
  }
}

function membership(action: ActionName, modelId: string, userId: string, workspaceId: string): NewAction[] {
  const data = { workspaceId, userId, role: 'member' };
  const one = { modelName: 'WorkspaceMember', modelId, action, workspaceId, data };
  return [
    { ...one, groupId: workspaceId },
    { ...one, groupId: userId },
  ];
}
