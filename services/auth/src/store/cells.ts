import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/** A workspace and the cell that has it. */
interface PlacedWorkspace {
  readonly workspaceId: string;
  readonly urlKey: string;
  readonly shard: number;
}

/** Longer than a creation takes from its claim to its commit. */
const CLAIM_MINUTES = 10;

/** Which cell has which workspace, and in which cells each person has a copy of their record besides the first. */
export interface CellStore {
  find(workspaceId: string): Promise<PlacedWorkspace | null>;
  findByUrlKey(urlKey: string): Promise<(PlacedWorkspace & { readonly isNew: boolean }) | null>;
  /** Adds those whose id and urlKey are new. */
  add(workspaces: readonly PlacedWorkspace[]): Promise<void>;
  setCell(workspaceId: string, shard: number): Promise<void>;
  /** Which of these another cell has. */
  elsewhere(shard: number, workspaceIds: readonly string[]): Promise<readonly string[]>;
  remove(workspaceId: string): Promise<void>;
  /** Removes those of a cell that are none of these, unless they are new. */
  removeOthers(shard: number, workspaceIds: readonly string[]): Promise<void>;
  /** The cells whose workspaces are all here, since a first list of each. */
  listed(): Promise<readonly number[]>;
  setListed(shard: number): Promise<void>;
  /** The cells besides the first in which a person has a copy. */
  shardsOf(userId: string): Promise<readonly number[]>;
}

export function cellStore(knex: Knex): CellStore {
  const PLACED = `workspace_id as "workspaceId", url_key as "urlKey", shard`;
  return {
    find: (workspaceId) =>
      firstRow(knex, `select ${PLACED} from auth.workspace_cells where workspace_id = :workspaceId`, { workspaceId }),
    findByUrlKey: (urlKey) => {
      const sql = `select ${PLACED}, claimed_at > now() - interval '${CLAIM_MINUTES} minutes' as "isNew"
        from auth.workspace_cells where url_key = :urlKey`;
      return firstRow(knex, sql, { urlKey });
    },
    add: async (workspaces) => {
      const sql = `insert into auth.workspace_cells (workspace_id, url_key, shard)
        select (w->>'workspaceId')::uuid, w->>'urlKey', (w->>'shard')::int from jsonb_array_elements(cast(:workspaces as jsonb)) w
        on conflict do nothing`;
      await rows(knex, sql, { workspaces: JSON.stringify(workspaces) });
    },
    setCell: async (workspaceId, shard) => {
      const sql = `update auth.workspace_cells set shard = :shard, claimed_at = now() where workspace_id = :workspaceId`;
      await rows(knex, sql, { workspaceId, shard });
    },
    elsewhere: async (shard, workspaceIds) => {
      const sql = `select workspace_id as id from auth.workspace_cells
        where workspace_id = any(cast(:workspaceIds as uuid[])) and shard <> :shard`;
      return (await rows<{ id: string }>(knex, sql, { shard, workspaceIds })).map(({ id }) => id);
    },
    remove: async (workspaceId) => {
      await rows(knex, `delete from auth.workspace_cells where workspace_id = :workspaceId`, { workspaceId });
    },
    removeOthers: async (shard, workspaceIds) => {
      const sql = `delete from auth.workspace_cells c where shard = :shard
        and claimed_at < now() - interval '${CLAIM_MINUTES} minutes'
        and not exists (select from unnest(cast(:workspaceIds as uuid[])) listed (id) where listed.id = c.workspace_id)
        and not exists (select from auth.moves m where m.workspace_id = c.workspace_id and m.ended_at is null)`;
      await rows(knex, sql, { shard, workspaceIds });
    },
    listed: async () =>
      (await rows<{ shard: number }>(knex, `select shard from auth.cells where listed_at is not null`)).map(
        ({ shard }) => shard,
      ),
    setListed: async (shard) => {
      const sql = `insert into auth.cells (shard, listed_at) values (:shard, now())
        on conflict (shard) do update set listed_at = excluded.listed_at`;
      await rows(knex, sql, { shard });
    },
    shardsOf: async (userId) => {
      const sql = `select shard from auth.person_cells where user_id = :userId and is_there order by shard`;
      return (await rows<{ shard: number }>(knex, sql, { userId })).map(({ shard }) => shard);
    },
  };
}
