import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { Client } from '../domain/client.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { deleteExcessRows, widerNetwork } from './rows-of-networks.ts';

/** In one round; the next one deletes more. */
const DELETED_MAX = 10_000;

export interface ClientStore {
  /**
   * Returns when it was registered. When more than AUTH_LIMITS.clientsUnusedMax clients never got a token, the oldest of the networks that
   * registered most of them are deleted, those with a running authorization last.
   */
  insert(client: Client, network: string): Promise<Date>;
  find(id: string): Promise<Client | null>;
  /** Deletes clients that never got a token, and those without a grant that got none for long, or are too many. */
  deleteUnused(): Promise<number>;
}

/** No person decides about it now, and it has no grant. Indexes grants (client_id) and pending_requests (client_id). */
const IS_FREE = `not exists (select from auth.grants where client_id = c.id)
  and not exists (select from auth.pending_requests where client_id = c.id and expires_at > now())`;

/** Index clients (created_at) of those without use, which the count only scans. */
const UNUSED = {
  table: 'auth.clients',
  key: 'id',
  counted: 'used_at is null',
  order: `${IS_FREE}, created_at desc`,
  rowsMax: AUTH_LIMITS.clientsUnusedMax,
} as const;
const WITHOUT_GRANT = {
  table: 'auth.clients',
  key: 'id',
  counted: `used_at is not null and ${IS_FREE}`,
  order: 'used_at desc',
  rowsMax: AUTH_LIMITS.clientsWithoutGrantMax,
} as const;

export function clientStore(knex: Knex): ClientStore {
  return {
    insert: async ({ id, secretHash, name, redirectUris, authMethod, grantTypes, applicationType }, sender) => {
      const sql = `insert into auth.clients
          (id, secret_hash, name, redirect_uris, auth_method, grant_types, application_type, network)
        values (:id, :secretHash, :name, :redirectUris, :authMethod, :grantTypes, :applicationType, :network)
        returning created_at as "createdAt"`;
      const network = widerNetwork(sender);
      const values = { id, secretHash, name, redirectUris, authMethod, grantTypes, applicationType, network };
      const [made] = await rows<{ createdAt: Date }>(knex, sql, values);
      if (made === undefined) throw new Error('an insert returns its row');
      await deleteExcessRows(knex, UNUSED, id);
      return made.createdAt;
    },
    find: async (id) => {
      const sql = `select id, secret_hash as "secretHash", name, redirect_uris as "redirectUris", auth_method as "authMethod",
        grant_types as "grantTypes", application_type as "applicationType" from auth.clients where id = :id`;
      const [found] = await rows<Client>(knex, sql, { id });
      return found ?? null;
    },
    // Index clients (created_at) of those without use.
    deleteUnused: async () => {
      const isFree = `${IS_FREE} limit :most`;
      const sql = `delete from auth.clients where id in (
          (select id from auth.clients c where used_at is null
            and created_at < now() - make_interval(secs => :unused) and ${isFree})
          union all (select id from auth.clients c where used_at < now() - make_interval(secs => :idle) and ${isFree})
        ) returning id`;
      const [unused, idle] = [AUTH_LIMITS.clientUnusedMs, AUTH_LIMITS.clientIdleMs].map((ms) => ms / 1000) as [
        number,
        number,
      ];
      const ended = await rows(knex, sql, { most: DELETED_MAX, unused, idle });
      return ended.length + (await deleteExcessRows(knex, WITHOUT_GRANT, null));
    },
  };
}
