import type { credentialApi, ReplyOf } from '@wts/contracts';
import { isoTimeSql } from '@wts/log';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/** A place in the list of revoked credentials, which is ordered by time and id. */
export interface RevocationPlace {
  readonly since: string;
  readonly id: string;
}

/** Times of the database, to the microsecond. Of all credentials of a person, who is disabled, the id is that of the revocation. */
type RevokedCredentials = Omit<ReplyOf<typeof credentialApi.internalListRevokedCredentials>, 'ok'>;

/** Which credentials were revoked, of every kind. */
export interface RevocationReads {
  /** The credentials that were revoked after a place, in order; and the time of the database. */
  list(after: RevocationPlace | null, limit: number): Promise<RevokedCredentials>;
}

export function revocationReads(knex: Knex): RevocationReads {
  return {
    list: async (after, limit) => {
      const [clock] = await rows<{ at: string }>(knex, `select ${isoTimeSql('clock_timestamp()', 'US')} as at`);
      if (clock === undefined) throw new Error('a select without a table has one row');
      if (after === null) return { at: clock.at, credentials: [] };
      return { at: clock.at, credentials: await rows(knex, REVOKED, { ...after, limit }) };
    },
  };
}

const AFTER = `revoked_at >= cast(:since as timestamptz)
  and (revoked_at, id) > (cast(:since as timestamptz), cast(:id as uuid)) order by revoked_at, id limit :limit`;

/** Indexes api_keys (revoked_at), grants (revoked_at, id) and disabled_people (disabled_at, id). */
const REVOKED = `with revoked as (
    (select id, user_id, revoked_at, false as is_all from auth.api_keys where ${AFTER})
    union all (select id, user_id, revoked_at, false from auth.grants where ${AFTER})
    union all (select id, user_id, revoked_at, true
      from (select id, user_id, disabled_at as revoked_at from auth.disabled_people) disabled where ${AFTER})
  )
  select id, user_id as "userId", ${isoTimeSql('revoked_at', 'US')} as "revokedAt", is_all as "isAll" from revoked
  order by revoked_at, id limit :limit`;
