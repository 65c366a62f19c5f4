import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { GIVING_UP, type MoveStep } from '../domain/move-steps.ts';

/** How far a step is; the next step begins with what it needs of it. */
export interface MovePlace {
  /** Which model is copied, and up to where. */
  readonly model?: number;
  readonly after?: string;
  /** Up to where the log was followed, and where the workspace ends in it. */
  readonly from?: string;
  readonly through?: string;
}

export interface StoredMove {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly urlKey: string;
  readonly source: number;
  readonly target: number;
  readonly step: MoveStep;
  readonly at: MovePlace;
  readonly records: number;
  readonly isCancelled: boolean;
  /** Why it waits, or why it was given up. */
  readonly problem: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  /** How long changes of the workspace have been refused. */
  readonly heldMs: number;
}

type NewMove = Pick<StoredMove, 'id' | 'workspaceId' | 'name' | 'urlKey' | 'source' | 'target'> & {
  readonly operatorId: string;
};

interface MoveAdvance {
  readonly step: MoveStep;
  readonly at: MovePlace;
  readonly records?: number;
  readonly problem: string | null;
  readonly isEnded?: boolean;
  /** `begins`: changes are refused from now on. `ends`: not any more. */
  readonly holding?: 'begins' | 'ends' | null;
}

export interface MoveStore {
  /** False when the workspace is moving already. */
  insert(move: NewMove): Promise<boolean>;
  find(id: string): Promise<StoredMove | null>;
  /** The newest first, after one of them. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<readonly StoredMove[]>;
  /** Those that have not ended. */
  open(): Promise<readonly StoredMove[]>;
  /** False when it cannot be given up any more. */
  cancel(id: string): Promise<boolean>;
  /** Nothing when another replica has advanced it meanwhile, and where there is no way back nothing once it is cancelled. */
  advance(move: StoredMove, to: MoveAdvance): Promise<void>;
}

const MOVE = `id, workspace_id as "workspaceId", name, url_key as "urlKey", source, target, step, at, records::float8 as records,
  is_cancelled as "isCancelled", problem, created_at as "createdAt", ended_at as "endedAt",
  coalesce(extract(epoch from clock_timestamp() - held_at) * 1000, 0)::float8 as "heldMs"`;

export function moveStore(knex: Knex): MoveStore {
  return {
    insert: async (move) => {
      const sql = `insert into auth.moves (id, workspace_id, name, url_key, source, target, step, operator_id)
        values (:id, :workspaceId, :name, :urlKey, :source, :target, 'arrive', :operatorId)
        on conflict (workspace_id) where ended_at is null do nothing returning id`;
      return (await rows(knex, sql, { ...move })).length > 0;
    },
    find: (id) => firstRow(knex, `select ${MOVE} from auth.moves where id = :id`, { id }),
    // Index moves_created_at_idx.
    list: ({ after, limit }) => {
      const sql = `select ${MOVE} from auth.moves where cast(:after as uuid) is null
          or (created_at, id) < (select created_at, id from auth.moves where id = :after)
        order by created_at desc, id desc limit :limit`;
      return rows<StoredMove>(knex, sql, { after, limit });
    },
    open: () => rows<StoredMove>(knex, `select ${MOVE} from auth.moves where ended_at is null order by created_at, id`),
    cancel: async (id) => {
      const sql = `update auth.moves set is_cancelled = true where id = :id and step = any(:steps) returning id`;
      return (await rows(knex, sql, { id, steps: GIVING_UP })).length > 0;
    },
    advance: async ({ id, step: was }, { step, at, records = 0, problem, isEnded = false, holding = null }) => {
      const sql = `update auth.moves set step = :step, at = cast(:at as jsonb), records = records + :records, problem = :problem,
          ended_at = case when :isEnded then now() end,
          held_at = case :holding when 'begins' then coalesce(held_at, clock_timestamp()) when 'ends' then null else held_at end
        where id = :id and step = :was and ended_at is null and not (is_cancelled and cast(:step as text) = 'switch')`;
      const values = { step, at: JSON.stringify(at), records, problem, isEnded, holding: holding ?? '' };
      await rows(knex, sql, { id, was, ...values });
    },
  };
}
