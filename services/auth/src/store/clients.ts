import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { OperatorClient } from '@wts/contracts';
import { isoTimeSql } from '@wts/log';
import type { Client } from '../domain/client.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { DELETED_MAX } from './delete-some.ts';
import { grantStore, type RevokedGrant } from './grants.ts';
import type { Page } from './operator-page.ts';
import { deleteExcessRows, widerNetwork } from './rows-of-networks.ts';

export interface ClientStore {
  /**
   * Returns when it was registered. When more than AUTH_LIMITS.clientsUnusedMax clients never got a token, the oldest of the networks that
   * registered most of them are deleted, those with a running authorization last. One of an operator is not counted.
   */
  insert(client: Client, network: string | null): Promise<Date>;
  find(id: string): Promise<Client | null>;
  /** Whether an operator registered it, or allowed the client of a document. */
  isByOperator(id: string): Promise<boolean>;
  /** Newest first, by a part of the name or the id. */
  list(page: Page): Promise<OperatorClient[]>;
  /** Revokes its grants and deletes it; null when there is neither. */
  delete(id: string): Promise<RevokedGrant[] | null>;
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
  counted: 'used_at is null and not by_operator',
  order: `${IS_FREE}, created_at desc`,
  rowsMax: AUTH_LIMITS.clientsUnusedMax,
} as const;
const WITHOUT_GRANT = {
  table: 'auth.clients',
  key: 'id',
  counted: `used_at is not null and not by_operator and ${IS_FREE}`,
  order: 'used_at desc',
  rowsMax: AUTH_LIMITS.clientsWithoutGrantMax,
} as const;

export function clientStore(knex: Knex): ClientStore {
  return {
    insert: async ({ id, secretHash, name, redirectUris, authMethod, grantTypes, applicationType }, sender) => {
      const sql = `insert into auth.clients
          (id, secret_hash, name, redirect_uris, auth_method, grant_types, application_type, network, by_operator)
        values (:id, :secretHash, :name, :redirectUris, :authMethod, :grantTypes, :applicationType, :network,
          cast(:network as text) is null)
        returning created_at as "createdAt"`;
      const network = sender === null ? null : widerNetwork(sender);
      const values = { id, secretHash, name, redirectUris, authMethod, grantTypes, applicationType, network };
      const [made] = await rows<{ createdAt: Date }>(knex, sql, values);
      if (made === undefined) throw new Error('an insert returns its row');
      if (network !== null) await deleteExcessRows(knex, UNUSED, id);
      return made.createdAt;
    },
    find: (id) => {
      const sql = `select id, secret_hash as "secretHash", name, redirect_uris as "redirectUris", auth_method as "authMethod",
        grant_types as "grantTypes", application_type as "applicationType" from auth.clients where id = :id`;
      return firstRow(knex, sql, { id });
    },
    isByOperator: async (id) =>
      (await rows(knex, `select from auth.clients where id = :id and by_operator`, { id })).length > 0,
    // Reads all clients, of which there are some ten thousand at most.
    list: ({ text, after, limit }) => {
      const sql = `select c.id as "clientId", c.name, c.redirect_uris as "redirectUris", c.auth_method as "authMethod",
          c.by_operator as "isByOperator", ${isoTimeSql('c.created_at')} as "createdAt", ${isoTimeSql('c.used_at')} as "lastUsedAt",
          (select count(*)::int from auth.grants g where g.client_id = c.id and g.revoked_at is null
            and g.expires_at > now()) as grants
        from auth.clients c
        where (cast(:text as text) is null or position(lower(:text) in lower(c.name)) > 0 or position(:text in c.id) > 0)
          and (cast(:after as text) is null or (c.created_at, c.id) < (select created_at, id from auth.clients where id = :after))
        order by c.created_at desc, c.id desc limit :limit`;
      return rows<OperatorClient>(knex, sql, { text, after, limit });
    },
    // Index grants (client_id).
    delete: async (id) => {
      const deleted = await rows(knex, `delete from auth.clients where id = :id returning id`, { id });
      const revoked = await grantStore(knex).revokeOfClient(id);
      return deleted.length + revoked.length === 0 ? null : revoked;
    },
    // Index clients (created_at) of those without use.
    deleteUnused: async () => {
      const isFree = `not by_operator and ${IS_FREE} limit :most`;
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
