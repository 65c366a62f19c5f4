import { randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { SecurityEvent, StoredEvent } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { deleteSome } from './delete-some.ts';

export interface EventPage {
  /** The id of the event that the page ends before; none for the newest. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface EventStore {
  /** False when so many of an unknown person were added lately that this one is left out. Keeps authentication.record.bounded. */
  insert(event: SecurityEvent): Promise<boolean>;
  /** What happened to a person, the newest first, from before an event on. */
  listOf(userId: string, page: EventPage): Promise<StoredEvent[]>;
  /** Deletes some of those that are older than so many days. Keeps authentication.record.retention. */
  deleteOlder(days: number): Promise<number>;
}

/** Of a stored event `e`. */
export const EVENT_COLUMNS = `e.id, e.at, e.kind, e.user_id as "userId", e.workspace_id as "workspaceId", e.subject_id as "subjectId",
  e.actor, e.actor_id as "actorId", e.network, e.browser, e.details`;
const IS_BEFORE = `(cast(:before as uuid) is null
  or (e.at, e.id) < (select at, id from auth.events where id = cast(:before as uuid)))`;

export function eventStore(knex: Knex): EventStore {
  return {
    // Index events (kind, at) of those without a person. The same statement for known and unknown people, so both take as long.
    insert: async ({ kind, details, userId = null, accountId = null, workspaceId = null, ...event }) => {
      const { subjectId = null, actor = { kind: 'person', id: userId }, visitor } = event;
      const sql = `insert into auth.events (id, kind, user_id, account_id, workspace_id, subject_id, actor, actor_id, network,
          browser, request_id, details)
        select :id, :kind, :userId, :accountId, :workspaceId, :subjectId, :actor, :actorId, :network, :browser, :requestId,
          cast(:details as jsonb)
        where cast(:userId as uuid) is not null or ${AUTH_LIMITS.unknownEventsMax} > (select count(*) from auth.events
          where kind = :kind and user_id is null and at > now() - make_interval(secs => ${AUTH_LIMITS.signInWindowMs / 1000}))
        returning id`;
      const added = await rows(knex, sql, {
        id: randomUUID(),
        kind,
        userId,
        accountId,
        workspaceId,
        subjectId,
        actor: actor.kind,
        actorId: actor.id ?? null,
        ...visitor,
        details: JSON.stringify(details),
      });
      return added.length > 0;
    },
    // Index events (user_id, at, id).
    listOf: (userId, { before = null, limit }) => {
      const sql = `select ${EVENT_COLUMNS} from auth.events e where e.user_id = :userId and ${IS_BEFORE}
        order by e.at desc, e.id desc limit :limit`;
      return rows<StoredEvent>(knex, sql, { userId, before, limit });
    },
    // Index events (at).
    deleteOlder: (days) =>
      deleteSome(
        knex,
        { table: 'events', where: 'at < now() - make_interval(days => :days)', oldestBy: 'at' },
        { days },
      ),
  };
}
