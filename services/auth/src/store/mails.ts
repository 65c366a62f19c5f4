import { firstRow, rows } from '@wts/service-kit/postgres';
import type { SealedSecret } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';
import { AUTH_LIMITS } from '../limits.ts';
import { deleteSome } from './delete-some.ts';

export interface NewStoredMail extends SealedSecret {
  readonly id: string;
  readonly kind: string;
  readonly recipient: string;
  /** The person whom it is about. */
  readonly userId: string | null;
  /** After this it is worth nothing. */
  readonly lifeMs: number;
}

/** A mail that this caller sends now. */
export interface ClaimedMail extends Omit<NewStoredMail, 'lifeMs'> {
  readonly attempts: number;
  readonly createdAt: Date;
}

/** One try of a mail. A later one makes what an earlier one writes worth nothing. */
type Attempt = Pick<ClaimedMail, 'id' | 'attempts'>;

export type MailOutcome =
  | { readonly state: 'sent'; readonly reason: null }
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'failed'; readonly reason: string; readonly retryAfterMs: number };

export interface MailBacklog {
  readonly waiting: number;
  /** How long the oldest waits. */
  readonly oldestSeconds: number;
}

/** Outgoing mails. All times are those of the database, so clocks of replicas do not matter. Keeps authentication.mail.queue. */
export interface MailStore {
  /** False when too many wait. */
  insert(mail: NewStoredMail): Promise<boolean>;
  /** The mail that waits longest, for this caller alone until the lease ends. */
  claim(leaseMs: number): Promise<ClaimedMail | null>;
  /** Replaces what the mail says, once for all further attempts. */
  rewrite(attempt: Attempt, content: SealedSecret & Pick<NewStoredMail, 'kind' | 'recipient'>): Promise<void>;
  /** A mail that is not needed. */
  delete(attempt: Attempt): Promise<void>;
  /** The state that the mail has then; null when another attempt began meanwhile. */
  finish(attempt: Attempt, outcome: MailOutcome): Promise<'waiting' | 'sent' | 'refused' | 'given-up' | null>;
  /** How many mails about a person were queued within this time. */
  countOf(userId: string, withinMs: number): Promise<number>;
  backlog(): Promise<MailBacklog>;
  /** Deletes those that ended long ago. */
  deleteEnded(): Promise<number>;
}

const IS_ATTEMPT = `id = :id and attempts = :attempts and state = 'waiting'`;

export function mailStore(knex: Knex): MailStore {
  return {
    insert: async ({ lifeMs, ...mail }) => {
      const sql = `insert into auth.mails (id, kind, recipient, user_id, content, sealed_with, ends_at)
        select :id, :kind, :recipient, cast(:userId as uuid), :sealed, :keyId, now() + make_interval(secs => :seconds)
        where (select count(*) from (select from auth.mails where state = 'waiting' limit :most) m) < :most
        returning id`;
      const values = { seconds: lifeMs / 1000, most: AUTH_LIMITS.mailsWaitingMax };
      return (await rows(knex, sql, { ...mail, ...values })).length > 0;
    },
    // Index mails (next_at) of those that wait. A locked one is being claimed by another replica.
    claim: (leaseMs) => {
      const sql = `update auth.mails set attempts = attempts + 1, next_at = now() + make_interval(secs => :seconds)
        where id = (select id from auth.mails where state = 'waiting' and next_at <= now()
          order by next_at limit 1 for update skip locked)
        returning id, kind, recipient, user_id as "userId", content as sealed, sealed_with as "keyId", attempts,
          created_at as "createdAt"`;
      return firstRow(knex, sql, { seconds: leaseMs / 1000 });
    },
    rewrite: async ({ id, attempts }, { kind, recipient, sealed, keyId }) => {
      const sql = `update auth.mails set kind = :kind, recipient = :recipient, content = :sealed, sealed_with = :keyId where ${IS_ATTEMPT}`;
      await rows(knex, sql, { id, attempts, kind, recipient, sealed, keyId });
    },
    delete: async ({ id, attempts }) => {
      await rows(knex, `delete from auth.mails where ${IS_ATTEMPT}`, { id, attempts });
    },
    finish: async ({ id, attempts }, outcome) => {
      const { state, reason } = outcome;
      const next = state === 'failed' ? `case when ends_at <= now() then 'given-up' else 'waiting' end` : ':state';
      const sql = `update auth.mails m set state = decided.state, reason = :reason,
          next_at = case when decided.state = 'waiting'
            then least(now() + make_interval(secs => :seconds), greatest(ends_at, now())) else next_at end,
          content = case when decided.state = 'waiting' then content end,
          sealed_with = case when decided.state = 'waiting' then sealed_with end,
          ended_at = case when decided.state <> 'waiting' then now() end
        from (select id, cast(${next} as text) as state from auth.mails where ${IS_ATTEMPT} for update) decided
        where m.id = decided.id returning m.state`;
      const seconds = outcome.state === 'failed' ? outcome.retryAfterMs / 1000 : 0;
      const values = { id, attempts, reason, seconds, ...(state === 'failed' ? {} : { state }) };
      type Ended = Awaited<ReturnType<MailStore['finish']>>;
      return (await firstRow<{ state: NonNullable<Ended> }>(knex, sql, values))?.state ?? null;
    },
    // Index mails (user_id, created_at).
    countOf: async (userId, withinMs) => {
      const sql = `select count(*)::integer as n from auth.mails
        where user_id = :userId and created_at > now() - make_interval(secs => :seconds)`;
      return (await firstRow<{ n: number }>(knex, sql, { userId, seconds: withinMs / 1000 }))?.n ?? 0;
    },
    backlog: async () => {
      const sql = `select count(*)::integer as waiting,
          coalesce(extract(epoch from now() - min(created_at)), 0)::float as "oldestSeconds"
        from auth.mails where state = 'waiting'`;
      return (await firstRow<MailBacklog>(knex, sql)) ?? { waiting: 0, oldestSeconds: 0 };
    },
    // Index mails (ended_at).
    deleteEnded: () => {
      const where = `state <> 'waiting' and ended_at < now() - make_interval(secs => :kept)`;
      return deleteSome(knex, { table: 'mails', where }, { kept: AUTH_LIMITS.endedMailKeptMs / 1000 });
    },
  };
}
