import type { GrantScope, ResolvedGrant } from '@wts/contracts';
import { LIMITS } from '@wts/contracts';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

export interface NewGrant {
  readonly id: string;
  readonly userId: string;
  /** In which the person allowed it. */
  readonly sessionId: string;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly scopes: readonly GrantScope[];
  readonly resources: readonly string[];
  readonly redirectUri: string;
  readonly challenge: string;
  readonly signedInAt: Date;
}

/** A grant in use, as its person sees it. */
export interface ListedGrant {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly scopes: readonly GrantScope[];
  readonly createdAt: Date;
  readonly usedAt: Date;
  readonly expiresAt: Date;
}

/** The grant that a code or a refresh token belongs to. */
export interface TokenGrant {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly GrantScope[];
  readonly resources: readonly string[];
}

export interface CodeGrant extends TokenGrant {
  readonly redirectUri: string;
  readonly challenge: string;
}

export interface RevokedGrant {
  readonly id: string;
  readonly userId: string;
}

export interface Rotation {
  /** SHA-256 of the presented token, and of the one that replaces it. */
  readonly hash: Buffer;
  readonly nextHash: Buffer;
  /** A token that was replaced so recently may be used again, while its successor is unused. */
  readonly graceMs: number;
}

/** Every effect is one statement, so that of simultaneous uses exactly one succeeds, on any number of replicas. */
export interface GrantStore {
  /**
   * The grant ends with its code unless the code is redeemed. False when the session has ended: what ends the sessions of a person
   * and then revokes their grants finds this grant too, because the session is locked until it exists.
   */
  insert(grant: NewGrant, codeHash: Buffer): Promise<boolean>;
  findByCode(hash: Buffer): Promise<CodeGrant | null>;
  findByRefreshToken(hash: Buffer): Promise<TokenGrant | null>;
  /** Returns when the grant ends; null when the code was used, has expired, or its grant was revoked. */
  redeem(codeHash: Buffer, refreshHash: Buffer | null): Promise<Date | null>;
  /** Returns when the grant ends; null when the token was used, has expired, or its grant was revoked. */
  rotate(rotation: Rotation): Promise<Date | null>;
  /** Revokes the grant of a code or refresh token that was used before. */
  revokeReused(hash: Buffer): Promise<RevokedGrant[]>;
  revoke(userId: string, id: string): Promise<RevokedGrant[]>;
  revokeAllOf(userId: string): Promise<RevokedGrant[]>;
  /** Newest first. */
  listOf(userId: string): Promise<ListedGrant[]>;
  /** Null when it is unknown, revoked or expired. */
  resolve(id: string): Promise<ResolvedGrant | null>;
  /** Deletes what ended so long ago that no access token of it is left. */
  deleteEnded(): Promise<number>;
}

/** In one round; the next one deletes more. */
const DELETED_MAX = 10_000;
const TOKEN_GRANT = `g.id, g.user_id as "userId", g.client_id as "clientId", g.scopes, g.resources`;
const IN_FORCE = `g.revoked_at is null and g.expires_at > now()`;
/** A grant ends when it is idle, and at its age; one without a refresh token with its access token. */
const NEXT_END = `least(now() + make_interval(secs => :idle), g.created_at + make_interval(secs => :age))`;
const seconds = (ms: number): number => ms / 1000;
const ENDS = { idle: seconds(LIMITS.grantIdleMs), age: seconds(LIMITS.grantMs) };

export function grantStore(knex: Knex): GrantStore {
  return {
    insert: async (
      { id, userId, sessionId, clientId, clientName, scopes, resources, redirectUri, challenge, signedInAt },
      hash,
    ) => {
      const sql = `with session as (
          select user_id from auth.sessions where id = :sessionId and user_id = :userId for share
        ), granted as (
          insert into auth.grants (id, user_id, client_id, client_name, scopes, resources, signed_in_at, expires_at)
          select :id, user_id, :clientId, :clientName, :scopes, :resources, :signedInAt, now() + make_interval(secs => :life)
          from session returning id, expires_at
        )
        insert into auth.codes (hash, grant_id, redirect_uri, challenge, expires_at)
        select :hash, id, :redirectUri, :challenge, expires_at from granted returning grant_id`;
      const grant = { id, userId, sessionId, clientId, clientName, scopes, resources, signedInAt };
      return (
        (await rows(knex, sql, { ...grant, redirectUri, challenge, hash, life: seconds(LIMITS.codeMs) })).length > 0
      );
    },
    findByCode: async (hash) => {
      const sql = `select ${TOKEN_GRANT}, c.redirect_uri as "redirectUri", c.challenge
        from auth.codes c join auth.grants g on g.id = c.grant_id where c.hash = :hash`;
      const [found] = await rows<CodeGrant>(knex, sql, { hash });
      return found ?? null;
    },
    findByRefreshToken: async (hash) => {
      const sql = `select ${TOKEN_GRANT} from auth.refresh_tokens t join auth.grants g on g.id = t.grant_id
        where t.hash = :hash`;
      const [found] = await rows<TokenGrant>(knex, sql, { hash });
      return found ?? null;
    },
    redeem: (codeHash, refreshHash) => redeemCode(knex, codeHash, refreshHash),
    rotate: (rotation) => rotateRefreshToken(knex, rotation),
    revokeReused: (hash) => {
      const used = `select grant_id from auth.codes where hash = :hash and used_at is not null
        union all select grant_id from auth.refresh_tokens where hash = :hash and used_at is not null`;
      return revokeWhere(knex, `id in (${used})`, { hash });
    },
    revoke: (userId, id) => revokeWhere(knex, 'id = :id and user_id = :userId', { userId, id }),
    revokeAllOf: (userId) => revokeWhere(knex, 'user_id = :userId', { userId }),
    // Index grants (user_id).
    listOf: (userId) => {
      const sql = `select g.id, g.client_id as "clientId", g.client_name as "clientName", g.scopes,
          g.created_at as "createdAt", g.used_at as "usedAt", g.expires_at as "expiresAt"
        from auth.grants g where g.user_id = :userId and g.used_at is not null and ${IN_FORCE}
        order by g.created_at desc, g.id`;
      return rows<ListedGrant>(knex, sql, { userId });
    },
    resolve: async (id) => {
      const sql = `select g.user_id as "userId", g.client_id as "clientId", g.scopes from auth.grants g
        where g.id = :id and ${IN_FORCE}`;
      const [found] = await rows<ResolvedGrant>(knex, sql, { id });
      return found ?? null;
    },
    // Indexes grants (expires_at), (revoked_at, id) and refresh_tokens (expires_at).
    deleteEnded: async () => {
      const life = seconds(LIMITS.accessTokenMs);
      const tokens = `delete from auth.refresh_tokens where hash in
        (select hash from auth.refresh_tokens where expires_at < now() limit :most)`;
      const grants = `delete from auth.grants where id in (select id from auth.grants
        where expires_at < now() - make_interval(secs => :life) or revoked_at < now() - make_interval(secs => :life)
        limit :most) returning id`;
      await rows(knex, tokens, { most: DELETED_MAX });
      return (await rows(knex, grants, { life, most: DELETED_MAX })).length;
    },
  };
}

/** The update of the code decides: a second one waits for the first and then finds `used_at` set. */
async function redeemCode(knex: Knex, hash: Buffer, refreshHash: Buffer | null): Promise<Date | null> {
  const end = refreshHash === null ? `now() + make_interval(secs => :life)` : NEXT_END;
  const refresh = `insert into auth.refresh_tokens (hash, grant_id, expires_at)
    select :refreshHash, id, expires_at from redeemed`;
  const sql = `with used as (
      update auth.codes c set used_at = now() where c.hash = :hash and c.used_at is null and c.expires_at > now()
      returning c.grant_id
    ), redeemed as (
      update auth.grants g set used_at = now(), expires_at = ${end} from used
      where g.id = used.grant_id and ${IN_FORCE} returning g.id, g.client_id, g.expires_at
    ), client as (
      update auth.clients c set used_at = now() from redeemed where c.id = redeemed.client_id
    )${refreshHash === null ? '' : `, refresh as (${refresh})`}
    select expires_at as "expiresAt" from redeemed`;
  const life = seconds(LIMITS.accessTokenMs);
  const values = refreshHash === null ? { hash, life } : { hash, refreshHash, ...ENDS };
  const [redeemed] = await rows<{ expiresAt: Date }>(knex, sql, values);
  return redeemed?.expiresAt ?? null;
}

/**
 * With a grace, only the immediate predecessor is accepted again: a token of an older generation has a successor that was used.
 * Index refresh_tokens (predecessor).
 */
async function rotateRefreshToken(knex: Knex, { hash, nextHash, graceMs }: Rotation): Promise<Date | null> {
  const sql = `with used as (
      update auth.refresh_tokens t set used_at = coalesce(t.used_at, now())
      where t.hash = :hash and t.expires_at > now() and (t.used_at is null or (cast(:grace as float8) > 0
        and t.used_at > now() - make_interval(secs => :grace)
        and not exists (select from auth.refresh_tokens s where s.predecessor = t.hash and s.used_at is not null)))
      returning t.grant_id
    ), slid as (
      update auth.grants g set used_at = now(), expires_at = ${NEXT_END} from used
      where g.id = used.grant_id and ${IN_FORCE} returning g.id, g.expires_at
    ), refresh as (
      insert into auth.refresh_tokens (hash, grant_id, predecessor, expires_at)
      select :nextHash, id, :hash, expires_at from slid
    )
    select expires_at as "expiresAt" from slid`;
  const [slid] = await rows<{ expiresAt: Date }>(knex, sql, { hash, nextHash, grace: seconds(graceMs), ...ENDS });
  return slid?.expiresAt ?? null;
}

function revokeWhere(
  knex: Knex,
  condition: string,
  bindings: Readonly<Record<string, string | Buffer>>,
): Promise<RevokedGrant[]> {
  const sql = `update auth.grants set revoked_at = clock_timestamp() where ${condition} and revoked_at is null
    returning id, user_id as "userId"`;
  return rows<RevokedGrant>(knex, sql, bindings);
}
