import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { sha256 } from '../domain/sha256.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { DELETED_AT_ONCE, deleteSome } from './delete-some.ts';
import { deleteExcessRows, widerNetwork } from './rows-of-networks.ts';

export type PendingKind = 'authorization' | 'provider' | 'connect' | 'factor' | 'totp';

export interface PendingKey {
  readonly idHash: Buffer;
  readonly kind: PendingKind;
  /** Of the browser that began it. */
  readonly browserHash: Buffer;
}

/** `id` is the secret that only the page of the request has. */
export function pendingKey(kind: PendingKind, id: string, browserId: string): PendingKey {
  return { idHash: sha256(id), kind, browserHash: sha256(browserId) };
}

/** What waits until a person has signed in or decided. */
export interface PendingRequestStore {
  /**
   * `clientId` is the client that waits too, whose registration is not deleted meanwhile. When more than AUTH_LIMITS.pendingRequestsMax
   * wait, the oldest of the networks that began most of them are deleted.
   */
  insert(
    key: PendingKey,
    content: object,
    from: { readonly network: string; readonly clientId?: string },
  ): Promise<void>;
  /** Null when it is unknown, too old, or of another browser. */
  find<T>(key: PendingKey): Promise<T | null>;
  /** Finds it and ends it: of several callers, one gets it. */
  take<T>(key: PendingKey): Promise<T | null>;
}

const WAITING = {
  table: 'auth.pending_requests',
  key: 'id_hash',
  counted: 'true',
  order: 'expires_at desc',
  rowsMax: AUTH_LIMITS.pendingRequestsMax,
} as const;
const IS_MEANT = `id_hash = :idHash and kind = :kind and browser_hash = :browserHash and expires_at > now()`;

export function pendingRequestStore(knex: Knex): PendingRequestStore {
  return {
    insert: async ({ idHash, kind, browserHash }, content, { network, clientId = null }) => {
      const sql = `insert into auth.pending_requests (id_hash, kind, browser_hash, content, client_id, network, expires_at)
        values (:idHash, :kind, :browserHash, :content, :clientId, :network, now() + make_interval(secs => :seconds))`;
      const seconds = AUTH_LIMITS.authorizationRequestMs / 1000;
      const values = { content: JSON.stringify(content), clientId, network: widerNetwork(network), seconds };
      await rows(knex, sql, { idHash, kind, browserHash, ...values });
      // Index pending_requests (expires_at).
      const ended = { where: 'expires_at <= now()', oldestBy: 'expires_at', most: DELETED_AT_ONCE };
      await deleteSome(knex, { table: 'pending_requests', key: 'id_hash', ...ended });
      await deleteExcessRows(knex, WAITING, idHash);
    },
    find: async <T>({ idHash, kind, browserHash }: PendingKey) => {
      const sql = `select content from auth.pending_requests where ${IS_MEANT}`;
      return parse(await firstRow(knex, sql, { idHash, kind, browserHash })) as T | null;
    },
    take: async <T>({ idHash, kind, browserHash }: PendingKey) => {
      const sql = `delete from auth.pending_requests where ${IS_MEANT} returning content`;
      return parse(await firstRow(knex, sql, { idHash, kind, browserHash })) as T | null;
    },
  };
}

function parse(row: { content: string } | null): unknown {
  return row === null ? null : JSON.parse(row.content);
}
