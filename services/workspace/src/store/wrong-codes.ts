import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/** An attempt that counts: the end of its window, which identifies the window. */
export type Counted = { readonly window: string } | { readonly retryAfterSeconds: number };

/** Wrong invitation codes, counted in windows of a minute for all replicas together. */
export interface WrongCodeStore {
  /**
   * Counts an attempt as wrong before its code is looked up, so that parallel attempts count too. An attempt after `max` others gets
   * the time until the window ends; it counts for nothing and does not prolong the window.
   */
  begin(userId: string, max: number): Promise<Counted>;
  /** The code of an attempt was right, or was not looked up. */
  takeBack(userId: string, window: string): Promise<void>;
}

const WINDOW_SECONDS = 60;
/** Each attempt deletes up to so many ended windows, so that the table holds about one window of attempts. */
const DELETED_AT_ONCE = 20;

export function wrongCodeStore(knex: Knex): WrongCodeStore {
  return {
    // Primary key wrong_codes (user_id). The last window of a person may have ended after the insert found that it had not.
    begin: async (userId, max) => {
      await deleteEnded(knex);
      const count = `insert into workspace.wrong_codes as c (user_id, attempts, ends_at)
          values (:userId, 1, now() + make_interval(secs => :seconds))
        on conflict (user_id) do update set
          attempts = case when c.ends_at <= now() then 1 else c.attempts + 1 end,
          ends_at = case when c.ends_at <= now() then excluded.ends_at else c.ends_at end
        where c.ends_at <= now() or c.attempts < :max
        returning ends_at::text as window`;
      const values = { userId, max, seconds: WINDOW_SECONDS };
      const [counted] = await rows<{ window: string }>(knex, count, values);
      if (counted !== undefined) return counted;
      const wait = `select greatest(1, ceil(extract(epoch from ends_at - now())))::integer as "retryAfterSeconds"
        from workspace.wrong_codes where user_id = :userId`;
      const [refused] = await rows<{ retryAfterSeconds: number }>(knex, wait, { userId });
      return refused ?? { retryAfterSeconds: 1 };
    },
    takeBack: async (userId, window) => {
      const sql = `update workspace.wrong_codes set attempts = attempts - 1
        where user_id = :userId and ends_at = cast(:window as timestamptz) and attempts > 0`;
      await rows(knex, sql, { userId, window });
    },
  };
}

/** Index wrong_codes (ends_at). */
async function deleteEnded(knex: Knex): Promise<void> {
  await rows(
    knex,
    `delete from workspace.wrong_codes where user_id in (select user_id from workspace.wrong_codes
      where ends_at <= now() order by ends_at limit ${DELETED_AT_ONCE} for update skip locked)`,
  );
}
