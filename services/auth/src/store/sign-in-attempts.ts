import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { AUTH_LIMITS } from '../limits.ts';
import { DELETED_AT_ONCE, deleteSome } from './delete-some.ts';

export interface Counted {
  readonly hash: Buffer;
  /** Failures within the window, after which attempts are refused. */
  readonly failuresMax: number;
  /** By default AUTH_LIMITS.signInWindowMs. */
  readonly windowMs?: number;
}

/** Failed sign-ins, shared by all replicas, and the sign-in places of accounts. */
export interface SignInAttemptStore {
  /**
   * Counts an attempt as failed before its password is checked, so that parallel attempts count too. Returns the time until the
   * next attempt in seconds, or null when this one may proceed. An attempt that one counter refuses counts on no other.
   */
  begin(counted: readonly Counted[]): Promise<number | null>;
  /** The attempt did not fail. */
  takeBack(counted: readonly Counted[]): Promise<void>;
  /** No failure of before counts any more. */
  forget(counted: readonly Counted[]): Promise<void>;
  /** Of these places, those in which the owner signed in before. */
  knownSignInPlaces(accountId: string, places: readonly Buffer[]): Promise<Buffer[]>;
  /** Whether anyone ever registered the account, or signed in to it. */
  isUsed(accountId: string): Promise<boolean>;
  /**
   * The last AUTH_LIMITS.signInPlacesMax are kept. `half`: the password was right, and a second factor may be missing. Such places are the first
   * to go, so that who has the password alone drops none of the owner's.
   */
  addSignInPlaces(accountId: string, places: readonly Buffer[], after?: 'half'): Promise<void>;
}

export function signInAttemptStore(knex: Knex): SignInAttemptStore {
  return {
    begin: async (counted) => {
      // In one order, so that no two attempts lock each other.
      const ordered = counted.toSorted((a, b) => Buffer.compare(a.hash, b.hash));
      const waits: number[] = [];
      const passed: Counted[] = [];
      for (const one of ordered) {
        const refusal = await count(knex, one);
        if (refusal.length === 0) passed.push(one);
        waits.push(...refusal);
      }
      if (waits.length > 0) await takeBack(knex, passed);
      const ended = { where: 'ends_at <= now()', oldestBy: 'ends_at', most: DELETED_AT_ONCE };
      await deleteSome(knex, { table: 'sign_in_failures', key: 'counted_hash', ...ended });
      return waits.length === 0 ? null : Math.max(...waits);
    },
    takeBack: (counted) => takeBack(knex, counted),
    forget: async (counted) => {
      const sql = `delete from auth.sign_in_failures where counted_hash = :hash`;
      for (const { hash } of counted) await rows(knex, sql, { hash });
    },
    // Primary key sign_in_places (account_id, place_hash).
    knownSignInPlaces: async (accountId, places) => {
      const sql = `select place_hash as place from auth.sign_in_places
        where account_id = :accountId and encode(place_hash, 'hex') = any(:places)`;
      const values = { accountId, places: places.map((one) => one.toString('hex')) };
      return (await rows<{ place: Buffer }>(knex, sql, values)).map(({ place }) => place);
    },
    // Primary key sign_in_places (account_id, place_hash).
    isUsed: async (accountId) => {
      const sql = `select from auth.sign_in_places where account_id = :accountId limit 1`;
      return (await rows(knex, sql, { accountId })).length > 0;
    },
    addSignInPlaces: async (accountId, places, after) => {
      const at = after === 'half' ? `'-infinity'` : 'now()';
      const add = `insert into auth.sign_in_places as p (account_id, place_hash, last_used_at) values (:accountId, :place, ${at})
        on conflict (account_id, place_hash) do update set last_used_at = greatest(p.last_used_at, excluded.last_used_at)`;
      for (const place of places) await rows(knex, add, { accountId, place });
      const drop = `delete from auth.sign_in_places where account_id = :accountId and place_hash not in (
        select place_hash from auth.sign_in_places where account_id = :accountId
          order by last_used_at desc limit ${AUTH_LIMITS.signInPlacesMax})`;
      await rows(knex, drop, { accountId });
    },
  };
}

async function takeBack(knex: Knex, counted: readonly Counted[]): Promise<void> {
  const sql = `update auth.sign_in_failures set failures = failures - 1 where counted_hash = :hash and failures > 0`;
  for (const { hash } of counted) await rows(knex, sql, { hash });
}

/** Empty when the attempt may proceed, otherwise the seconds until the window ends. A refused attempt does not prolong it. */
async function count(
  knex: Knex,
  { hash, failuresMax, windowMs = AUTH_LIMITS.signInWindowMs }: Counted,
): Promise<number[]> {
  const sql = `insert into auth.sign_in_failures as f (counted_hash, failures, ends_at)
      values (:hash, 1, now() + make_interval(secs => :seconds))
    on conflict (counted_hash) do update set
      failures = case when f.ends_at <= now() then 1 else least(f.failures + 1, :failuresMax + 1) end,
      ends_at = case when f.ends_at <= now() then excluded.ends_at else f.ends_at end
    returning failures, ceil(extract(epoch from ends_at - now()))::integer as "retryAfterSeconds"`;
  const values = { hash, failuresMax, seconds: windowMs / 1000 };
  const [row] = await rows<{ failures: number; retryAfterSeconds: number }>(knex, sql, values);
  if (row === undefined) throw new Error('an upsert without a condition returns its row');
  return row.failures > failuresMax ? [row.retryAfterSeconds] : [];
}
