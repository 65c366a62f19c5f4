import { randomUUID } from 'node:crypto';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { SecurityEvent } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';

export interface EventStore {
  /** False when so many of an unknown person were added lately that this one is left out. Keeps authentication.record.bounded. */
  insert(event: SecurityEvent): Promise<boolean>;
}

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
  };
}
