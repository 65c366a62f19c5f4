import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/** A copy that may be behind: another record of the person changed after the one that was put. */
interface BehindCopy {
  readonly shard: number;
  readonly changed: string;
}

/** The copies of the records of people besides those of the first cell, and how far changes of people are followed. */
export interface PersonCellStore {
  isThere(userId: string, shard: number): Promise<boolean>;
  /** Those of them who have no copy in a cell. */
  missing(userIds: readonly string[], shard: number): Promise<readonly string[]>;
  /** Before it is read anywhere, so that a change that comes meanwhile is followed. */
  begin(userIds: readonly string[], shard: number): Promise<void>;
  setThere(userIds: readonly string[], shard: number): Promise<void>;
  /** All copies of these people are behind now. */
  setChanged(userIds: readonly string[]): Promise<void>;
  /** People with a copy that is behind, after a person. */
  behind(after: string, limit: number): Promise<readonly string[]>;
  copiesOf(userId: string): Promise<readonly BehindCopy[]>;
  /** The copy has every change that was known as `changed`. */
  setPut(userId: string, copy: BehindCopy): Promise<void>;
  positionOf(shard: number): Promise<string | null>;
  setPosition(shard: number, position: string): Promise<void>;
}

export function personCellStore(knex: Knex): PersonCellStore {
  return {
    isThere: async (userId, shard) => {
      const sql = `select from auth.person_cells where user_id = :userId and shard = :shard and is_there`;
      return (await rows(knex, sql, { userId, shard })).length > 0;
    },
    missing: async (userIds, shard) => {
      const sql = `select id from unnest(cast(:userIds as uuid[])) one (id) where not exists (
        select from auth.person_cells where user_id = id and shard = :shard and is_there)`;
      return (await rows<{ id: string }>(knex, sql, { userIds, shard })).map(({ id }) => id);
    },
    begin: async (userIds, shard) => {
      const sql = `insert into auth.person_cells (user_id, shard)
        select id, :shard from unnest(cast(:userIds as uuid[])) one (id) on conflict do nothing`;
      await rows(knex, sql, { userIds, shard });
    },
    setThere: async (userIds, shard) => {
      const sql = `update auth.person_cells set is_there = true
        where user_id = any(cast(:userIds as uuid[])) and shard = :shard and not is_there`;
      await rows(knex, sql, { userIds, shard });
    },
    setChanged: async (userIds) => {
      const sql = `update auth.person_cells set changed = changed + 1 where user_id = any(cast(:userIds as uuid[]))`;
      await rows(knex, sql, { userIds });
    },
    // Index person_cells_behind_idx.
    behind: async (after, limit) => {
      const sql = `select distinct user_id as id from auth.person_cells
        where changed <> put and user_id > :after order by user_id limit :limit`;
      return (await rows<{ id: string }>(knex, sql, { after, limit })).map(({ id }) => id);
    },
    copiesOf: async (userId) => {
      const sql = `select shard, changed from auth.person_cells where user_id = :userId order by shard`;
      return rows<BehindCopy>(knex, sql, { userId });
    },
    setPut: async (userId, { shard, changed }) => {
      const sql = `update auth.person_cells set put = :changed, is_there = true where user_id = :userId and shard = :shard`;
      await rows(knex, sql, { userId, shard, changed });
    },
    positionOf: async (shard) => {
      const sql = `select people_position as position from auth.cells where shard = :shard`;
      return (await rows<{ position: string | null }>(knex, sql, { shard }))[0]?.position ?? null;
    },
    setPosition: async (shard, position) => {
      const sql = `insert into auth.cells (shard, people_position) values (:shard, :position)
        on conflict (shard) do update set people_position = excluded.people_position`;
      await rows(knex, sql, { shard, position });
    },
  };
}
