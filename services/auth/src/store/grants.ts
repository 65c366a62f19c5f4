import type { GrantScope, ResolvedGrant } from '@wts/contracts';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { RefreshHashes } from '../domain/refresh-token.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { ACCOUNT_ISSUER } from './accounts.ts';
import { deleteSome } from './delete-some.ts';
import { isEnabledSql } from './disabled-people.ts';

export interface NewGrant {
  readonly id: string;
  readonly userId: string;
  /** In which the person allowed it. */
  readonly sessionId: string;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly scopes: readonly GrantScope[];
  readonly resources: readonly string[];
  /** Where its code goes. */
  readonly redirectUri: string;
  readonly challenge: string;
  readonly signedInAt: Date;
  /** The only workspace that it is for. */
  readonly workspaceId?: string | null;
  /** It ends then, however it is used; without it after AUTH_LIMITS.grantMs. */
  readonly endsAt?: Date | null;
}

/** A grant in use, as its person sees it. */
export interface ListedGrant extends Pick<NewGrant, 'id' | 'clientId' | 'clientName' | 'scopes' | 'redirectUri'> {
  readonly createdAt: Date;
  readonly usedAt: Date;
  readonly expiresAt: Date;
  readonly workspaceId: string | null;
}

/** The grant that a code or a refresh token belongs to. */
export type TokenGrant = Pick<NewGrant, 'id' | 'userId' | 'clientId' | 'scopes' | 'resources'>;

type CodeGrant = TokenGrant & Pick<NewGrant, 'redirectUri' | 'challenge'>;

export interface RevokedGrant extends Pick<NewGrant, 'id' | 'userId' | 'clientName'> {
  readonly workspaceId: string | null;
}

export interface Rotation extends RefreshHashes {
  /** SHA-256 of the token that replaces it, and what it was derived with. */
  readonly nextHash: Buffer;
  readonly nonce: Buffer;
  /** A token that was replaced so recently may be used again, while its successor is unused. */
  readonly graceMs: number;
}

export interface Rotated {
  /** Of the current token: that of the rotation, or an earlier one within the grace. */
  readonly nonce: Buffer;
  readonly expiresAt: Date;
}

/**
 * Every effect is one statement, so that of simultaneous uses exactly one succeeds, on any number of replicas. A statement that locks
 * several rows locks a code before its grant, and grants in the order of their ids. A grant is deleted with its code only half an hour
 * after it ended, when no other statement changes either.
 */
export interface GrantStore {
  /**
   * The grant ends with its code unless the code is exchanged. False when the session has ended: what ends the sessions of a person
   * and then revokes their grants finds this grant too, because the session is locked until it exists.
   */
  insert(grant: NewGrant, codeHash: Buffer): Promise<boolean>;
  findByCode(hash: Buffer): Promise<CodeGrant | null>;
  findByRefreshToken(token: RefreshHashes): Promise<TokenGrant | null>;
  /** Returns when the grant ends; null when the code was used, has expired, or its grant was revoked. */
  exchange(codeHash: Buffer, refresh: RefreshHashes | null): Promise<Date | null>;
  /** Null when the token was used, has expired, or its grant was revoked. */
  rotate(rotation: Rotation): Promise<Rotated | null>;
  /** Revokes the grant of a code that was used before. */
  revokeOfUsedCode(hash: Buffer): Promise<RevokedGrant[]>;
  /** Revokes the grant of a refresh token that is not the current one. */
  revokeOfUsedToken(token: RefreshHashes): Promise<RevokedGrant[]>;
  /** Revokes the grants of a person that were used longest ago, beyond AUTH_LIMITS.grantsPerPersonMax. */
  revokeExcess(userId: string): Promise<RevokedGrant[]>;
  revoke(userId: string, id: string): Promise<RevokedGrant[]>;
  revokeAllOf(userIds: readonly string[]): Promise<RevokedGrant[]>;
  revokeOfClient(clientId: string): Promise<RevokedGrant[]>;
  /** Revokes a grant that is limited to the workspace. */
  revokeIn(workspaceId: string, id: string): Promise<RevokedGrant[]>;
  /** Revokes some of the grants of people with an account. */
  revokeOfAccounts(): Promise<RevokedGrant[]>;
  /** Newest first. */
  listOf(userId: string): Promise<ListedGrant[]>;
  /** Null when it is unknown, revoked or expired, or its person is disabled. */
  resolve(id: string): Promise<ResolvedGrant | null>;
  /** Deletes what ended so long ago that no access token of it is left. */
  deleteEnded(): Promise<number>;
}

/** Each is a message to all replicas. */
const REVOKED_AT_ONCE = 2_000;
const TOKEN_GRANT = `g.id, g.user_id as "userId", g.client_id as "clientId", g.scopes, g.resources`;
const IN_FORCE = `g.revoked_at is null and g.expires_at > now()`;
const OF_ACCOUNTS = `select g.id from auth.grants g join auth.identities i on i.user_id = g.user_id
  where i.issuer = :issuer and ${IN_FORCE} limit ${REVOKED_AT_ONCE}`;
/** A grant ends when it is idle, at its age, and when its person chose; one without a refresh token with its access token. */
const NEXT_END = `least(now() + make_interval(secs => :idle), g.created_at + make_interval(secs => :age), g.ends_at)`;
const seconds = (ms: number): number => ms / 1000;
const ENDS = { idle: seconds(AUTH_LIMITS.grantIdleMs), age: seconds(AUTH_LIMITS.grantMs) };

export function grantStore(knex: Knex): GrantStore {
  return {
    insert: async (
      { id, userId, sessionId, clientId, clientName, scopes, resources, redirectUri, challenge, signedInAt, ...limits },
      hash,
    ) => {
      const { workspaceId = null, endsAt = null } = limits;
      const sql = `with session as (
          select user_id from auth.sessions where id = :sessionId and user_id = :userId for share
        ), granted as (
          insert into auth.grants (id, user_id, client_id, client_name, scopes, resources, signed_in_at, workspace_id,
            ends_at, expires_at)
          select :id, user_id, :clientId, :clientName, :scopes, :resources, :signedInAt, :workspaceId,
            :endsAt, now() + make_interval(secs => :life)
          from session returning id, expires_at
        )
        insert into auth.codes (hash, grant_id, redirect_uri, challenge, expires_at)
        select :hash, id, :redirectUri, :challenge, expires_at from granted returning grant_id`;
      const grant = { id, userId, sessionId, clientId, clientName, scopes, resources, signedInAt, workspaceId, endsAt };
      const code = { redirectUri, challenge, hash, life: seconds(AUTH_LIMITS.codeMs) };
      return (await rows(knex, sql, { ...grant, ...code })).length > 0;
    },
    findByCode: (hash) => {
      const sql = `select ${TOKEN_GRANT}, c.redirect_uri as "redirectUri", c.challenge
        from auth.codes c join auth.grants g on g.id = c.grant_id where c.hash = :hash`;
      return firstRow(knex, sql, { hash });
    },
    // Index grants (refresh_family).
    findByRefreshToken: ({ family }) =>
      firstRow(knex, `select ${TOKEN_GRANT} from auth.grants g where g.refresh_family = :family`, { family }),
    exchange: (codeHash, refresh) => exchangeCode(knex, codeHash, refresh),
    rotate: (rotation) => rotateRefreshToken(knex, rotation),
    revokeOfUsedCode: (hash) => {
      const used = `select grant_id from auth.codes where hash = :hash and used_at is not null`;
      return revokeWhere(knex, `id in (${used})`, { hash });
    },
    revokeOfUsedToken: ({ family, hash }) =>
      revokeWhere(knex, 'refresh_family = :family and refresh_hash <> :hash', { family, hash }),
    // Index grants (user_id).
    revokeExcess: (userId) => {
      const excess = `select g.id from auth.grants g where g.user_id = :userId and ${IN_FORCE}
        order by coalesce(g.used_at, g.created_at) desc, g.id offset ${AUTH_LIMITS.grantsPerPersonMax}`;
      return revokeWhere(knex, `id in (${excess})`, { userId });
    },
    revoke: (userId, id) => revokeWhere(knex, 'id = :id and user_id = :userId', { userId, id }),
    revokeAllOf: (userIds) => revokeWhere(knex, 'user_id = any(cast(:userIds as uuid[]))', { userIds }),
    // Index grants (client_id).
    revokeOfClient: (clientId) => revokeWhere(knex, 'client_id = :clientId', { clientId }),
    revokeIn: (workspaceId, id) => revokeWhere(knex, 'id = :id and workspace_id = :workspaceId', { workspaceId, id }),
    revokeOfAccounts: () => revokeWhere(knex, `id in (${OF_ACCOUNTS})`, { issuer: ACCOUNT_ISSUER }),
    listOf: (userId) => listGrants(knex, userId),
    resolve: (id) => {
      const sql = `select g.user_id as "userId", g.client_id as "clientId", g.scopes, g.workspace_id as "workspaceId"
        from auth.grants g where g.id = :id and ${IN_FORCE} and ${isEnabledSql('g.user_id')}`;
      return firstRow(knex, sql, { id });
    },
    // Indexes grants (expires_at) and (revoked_at, id).
    deleteEnded: () => {
      const where = `(expires_at < now() - make_interval(secs => :life) or revoked_at < now() - make_interval(secs => :life))`;
      return deleteSome(knex, { table: 'grants', where }, { life: seconds(AUTH_LIMITS.accessTokenMs) });
    },
  };
}

/** Indexes grants (user_id) and codes (grant_id). */
function listGrants(knex: Knex, userId: string): Promise<ListedGrant[]> {
  const sql = `select g.id, g.client_id as "clientId", g.client_name as "clientName", g.scopes,
      g.created_at as "createdAt", g.used_at as "usedAt", g.expires_at as "expiresAt", g.workspace_id as "workspaceId",
      coalesce((select c.redirect_uri from auth.codes c where c.grant_id = g.id limit 1), '') as "redirectUri"
    from auth.grants g where g.user_id = :userId and g.used_at is not null and ${IN_FORCE}
    order by g.created_at desc, g.id limit ${AUTH_LIMITS.grantsPerPersonMax}`;
  return rows<ListedGrant>(knex, sql, { userId });
}

/** The update of the code decides: a second one waits for the first and then finds `used_at` set. */
async function exchangeCode(knex: Knex, hash: Buffer, refresh: RefreshHashes | null): Promise<Date | null> {
  const end = refresh === null ? `least(now() + make_interval(secs => :life), g.ends_at)` : NEXT_END;
  const token = refresh === null ? '' : ', refresh_family = :family, refresh_hash = :refreshHash, refreshed_at = now()';
  const sql = `with used as (
      update auth.codes c set used_at = now() where c.hash = :hash and c.used_at is null and c.expires_at > now()
      returning c.grant_id
    ), exchanged as (
      update auth.grants g set used_at = now(), expires_at = ${end}${token} from used
      where g.id = used.grant_id and ${IN_FORCE} returning g.client_id, g.expires_at
    ), client as (
      update auth.clients c set used_at = now() from exchanged where c.id = exchanged.client_id
    )
    select expires_at as "expiresAt" from exchanged`;
  const life = seconds(AUTH_LIMITS.accessTokenMs);
  const values =
    refresh === null ? { hash, life } : { hash, family: refresh.family, refreshHash: refresh.hash, ...ENDS };
  return (await firstRow<{ expiresAt: Date }>(knex, sql, values))?.expiresAt ?? null;
}

/**
 * The update decides: of simultaneous uses of the current token, all but the first find another one. With a grace these get the token
 * that the first one got, so a family never has two branches. Once that token is used, its predecessor is not the one of the row.
 */
async function rotateRefreshToken(
  knex: Knex,
  { family, hash, nextHash, nonce, graceMs }: Rotation,
): Promise<Rotated | null> {
  const sql = `update auth.grants g set used_at = now(), expires_at = ${NEXT_END}, refreshed_at = now(),
      refresh_hash = :nextHash, refresh_predecessor = :hash, refresh_nonce = :nonce
    where g.refresh_family = :family and g.refresh_hash = :hash and ${IN_FORCE}
    returning g.refresh_nonce as nonce, g.expires_at as "expiresAt"`;
  const rotated = await firstRow<Rotated>(knex, sql, { family, hash, nextHash, nonce, ...ENDS });
  if (rotated !== null || graceMs === 0) return rotated;
  const repeat = `select g.refresh_nonce as nonce, g.expires_at as "expiresAt" from auth.grants g
    where g.refresh_family = :family and g.refresh_predecessor = :hash
      and g.refreshed_at > now() - make_interval(secs => :grace) and ${IN_FORCE}`;
  return firstRow(knex, repeat, { family, hash, grace: seconds(graceMs) });
}

function revokeWhere(
  knex: Knex,
  condition: string,
  bindings: Readonly<Record<string, string | readonly string[] | Buffer>>,
): Promise<RevokedGrant[]> {
  const sql = `with ended as (
      select id from auth.grants where ${condition} and revoked_at is null order by id for update
    )
    update auth.grants set revoked_at = clock_timestamp() where id in (select id from ended)
    returning id, user_id as "userId", client_name as "clientName", workspace_id as "workspaceId"`;
  return rows<RevokedGrant>(knex, sql, bindings);
}
