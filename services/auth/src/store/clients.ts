import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

/** A program that asks a person for access. */
export interface Client {
  readonly id: string;
  /** SHA-256 of its secret; null for a public client. */
  readonly secretHash: Buffer | null;
  /** As the client calls itself; null when it has no name. */
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  readonly authMethod: (typeof AUTH_METHODS)[number];
  readonly grantTypes: readonly GrantType[];
  readonly applicationType: string | null;
}

export interface ClientStore {
  /** Returns when it was registered. */
  insert(client: Client): Promise<Date>;
  find(id: string): Promise<Client | null>;
  /** Deletes clients that never got a token within so long, or whose last grant ended so long ago. */
  deleteUnused(limits: { readonly unusedMs: number; readonly idleMs: number }): Promise<number>;
}

export function clientStore(knex: Knex): ClientStore {
  return {
    insert: async ({ id, secretHash, name, redirectUris, authMethod, grantTypes, applicationType }) => {
      const sql = `insert into auth.clients (id, secret_hash, name, redirect_uris, auth_method, grant_types, application_type)
        values (:id, :secretHash, :name, :redirectUris, :authMethod, :grantTypes, :applicationType)
        returning created_at as "createdAt"`;
      const values = { id, secretHash, name, redirectUris, authMethod, grantTypes, applicationType };
      const [made] = await rows<{ createdAt: Date }>(knex, sql, values);
      if (made === undefined) throw new Error('an insert returns its row');
      return made.createdAt;
    },
    find: async (id) => {
      const sql = `select id, secret_hash as "secretHash", name, redirect_uris as "redirectUris", auth_method as "authMethod",
        grant_types as "grantTypes", application_type as "applicationType" from auth.clients where id = :id`;
      const [found] = await rows<Client>(knex, sql, { id });
      return found ?? null;
    },
    // Index grants (client_id).
    deleteUnused: async ({ unusedMs, idleMs }) => {
      const sql = `delete from auth.clients c
        where coalesce(used_at + make_interval(secs => :idle), created_at + make_interval(secs => :unused)) < now()
          and not exists (select from auth.grants where client_id = c.id) returning id`;
      return (await rows(knex, sql, { unused: unusedMs / 1000, idle: idleMs / 1000 })).length;
    },
  };
}
