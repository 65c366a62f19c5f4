import { HEAD, type Queryable } from '@wts/log';
import type { Pool, PoolClient } from 'pg';
import { POSITIONS } from './positions.ts';
import { inTransaction } from './transaction.ts';

/** A workspace that moves from this cell or to it. */
export interface WorkspaceMove {
  readonly workspaceId: string;
  readonly state: 'moving' | 'moved' | 'arriving' | 'removed';
  readonly baseUrl: string | null;
  /** Who was in a workspace that has moved. */
  readonly members: ReadonlySet<string>;
  /** Its copy can be deleted. */
  readonly isExpired: boolean;
}

type MoveRow = Omit<WorkspaceMove, 'members'> & { readonly members: string };

/** How long the copy of a workspace that has moved is kept. */
const KEPT = `interval '1 day'`;
const IS_EXPIRED = `(state = 'removed' or (state = 'moved' and changed_at < now() - ${KEPT}))`;
const MOVE = `workspace_id as "workspaceId", state, base_url as "baseUrl", array_to_string(members, ' ') as members,
  ${IS_EXPIRED} as "isExpired"`;

function moveOf({ members, ...row }: MoveRow): WorkspaceMove {
  return { ...row, members: new Set(members === '' ? [] : members.split(' ')) };
}

/** For lists of workspaces: without copies, whose workspace another cell has. */
export function isHere(workspaceId: string): string {
  return `not exists (select from sync.workspace_moves m where m.workspace_id = ${workspaceId} and m.state <> 'moving')`;
}

interface ClosedWorkspaces {
  readonly archived: readonly string[];
  readonly moves: readonly WorkspaceMove[];
  /** When they were read. */
  readonly nowMs: number;
}

/** The workspaces in which most changes are refused: those that are deleted and can be restored, by index workspaces (archived_at), and those that move. */
export async function readClosedWorkspaces(pool: Pool): Promise<ClosedWorkspaces> {
  const { rows } = await pool.query<{ archived: string[]; moves: MoveRow[]; nowMs: number }>(
    `select array(select id::text from sync.workspaces where archived_at is not null) as archived,
      (select coalesce(json_agg(move), '[]') from (select ${MOVE} from sync.workspace_moves) move) as moves,
      (extract(epoch from now()) * 1000)::float8 as "nowMs"`,
  );
  const { archived, moves, nowMs } = rows[0] as (typeof rows)[0];
  return { archived, moves: moves.map(moveOf), nowMs };
}

/** Null: it does not move. */
export async function readMoveState(database: Queryable, workspaceId: string): Promise<WorkspaceMove['state'] | null> {
  const sql = 'select state from sync.workspace_moves where workspace_id = $1';
  return (await database.query<{ state: WorkspaceMove['state'] }>(sql, [workspaceId])).rows[0]?.state ?? null;
}

export interface NewMoveState {
  /** Null: it does not move any more. */
  readonly state: WorkspaceMove['state'] | null;
  readonly baseUrl: string | null;
}

/** What the next state of a move depends on. */
export interface MoveFacts {
  readonly state: WorkspaceMove['state'] | null;
  /** Its copy can be deleted. */
  readonly isExpired: boolean;
  /** Whether this cell has the workspace, or a copy of it. */
  readonly exists: boolean;
  /** Whether a large deletion or move in it is still being completed. */
  readonly hasSweeps: boolean;
}

const FACTS = `select move.state, coalesce(${IS_EXPIRED}, false) as "isExpired",
    exists (select from sync.workspaces where id = $1) as exists,
    exists (select from sync.sweeps where workspace_id = $1) as "hasSweeps"
  from (select) one left join sync.workspace_moves move on workspace_id = $1`;

/** Under the lock of the log, so every commit is before it or compares its workspaces with it. */
function lockedMove<T>(
  pool: Pool,
  workspaceId: string,
  change: (client: PoolClient, facts: MoveFacts) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (client) => {
    await client.query(POSITIONS.lock);
    const { rows } = await client.query<MoveFacts>(FACTS, [workspaceId]);
    return change(client, rows[0] as MoveFacts);
  });
}

/** Changes the state; `decide` may refuse by throwing. Returns the head: no entry of the workspace follows it. */
export async function changeMove(
  pool: Pool,
  workspaceId: string,
  decide: (facts: MoveFacts) => NewMoveState,
): Promise<bigint> {
  return lockedMove(pool, workspaceId, async (client, facts) => {
    await storeMove(client, workspaceId, decide(facts));
    const { rows } = await client.query<{ head: string }>(`select ${HEAD}::text as head`);
    return BigInt(rows[0]?.head ?? 0);
  });
}

/**
 * Goes on with the deletion of a copy that can be deleted; true while its records are to be deleted. What its people see of each other
 * stays, as after any deletion of a workspace.
 */
export async function removeCopy(pool: Pool, workspaceId: string): Promise<boolean> {
  return lockedMove(pool, workspaceId, async (client, { isExpired, exists, hasSweeps }) => {
    if (!isExpired) return false;
    const isDeleted = !exists && !hasSweeps;
    await storeMove(client, workspaceId, { state: isDeleted ? null : 'removed', baseUrl: null });
    if (!isDeleted) return exists;
    await client.query('delete from sync.task_counters where workspace_id = $1', [workspaceId]);
    await client.query('delete from sync.membership_losses where workspace_id = $1', [workspaceId]);
    return false;
  });
}

async function storeMove(client: PoolClient, workspaceId: string, { state, baseUrl }: NewMoveState): Promise<void> {
  if (state === null) await client.query('delete from sync.workspace_moves where workspace_id = $1', [workspaceId]);
  else
    await client.query(
      `insert into sync.workspace_moves as m (workspace_id, state, base_url, members)
        values ($1, $2, $3, case when $2 = 'moved' then array(select user_id from sync.workspace_members where workspace_id = $1) else '{}' end)
        on conflict (workspace_id) do update set state = excluded.state, base_url = excluded.base_url,
          members = case when m.state = excluded.state then m.members else excluded.members end,
          changed_at = case when m.state = excluded.state then m.changed_at else now() end
        where m.state <> excluded.state or coalesce(m.base_url, '') = ''`,
      [workspaceId, state, baseUrl],
    );
  await client.query('update sync.log_state set has_moves = exists (select from sync.workspace_moves)');
}

/** The next of the members of a workspace. Index workspace_members (workspace_id, user_id). */
export async function listMemberships(pool: Pool, workspaceId: string, limit: number): Promise<string[]> {
  const sql = 'select id from sync.workspace_members where workspace_id = $1 limit $2';
  return (await pool.query<{ id: string }>(sql, [workspaceId, limit])).rows.map(({ id }) => id);
}

/** When the copy of a workspace was archived; undefined where there is none. */
export async function findCopy(pool: Pool, workspaceId: string): Promise<string | null | undefined> {
  const { rows } = await pool.query<{ archivedAt: string | null }>(
    `select record->>'archivedAt' as "archivedAt" from sync.workspaces where id = $1`,
    [workspaceId],
  );
  return rows[0]?.archivedAt;
}
