import { Fault, LIMITS, type InvitableRole, type Invitation, type MovedInvitation, type Role } from '@wts/contracts';
import { isoTimeSql } from '@wts/log';
import { isMoving } from '@wts/read-model';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { StoredInvitation } from '../domain/redemption.ts';

export interface NewStoredInvitation {
  readonly id: string;
  readonly workspaceId: string;
  readonly email: string | null;
  readonly role: InvitableRole;
  readonly codeHash: Buffer;
  readonly createdBy: string;
  readonly expiresInDays: number;
}

/** An invitation whose code a person sent, with what the sync service recorded about that person in its workspace. */
export interface PresentedInvitation extends StoredInvitation {
  /** The person was removed, or their role was lowered, after the invitation was created. */
  readonly hasLostSince: boolean;
  /** How many memberships of the person in this workspace have ended. */
  readonly endedMemberships: number;
}

export interface InvitationStore {
  /**
   * Null when the workspace has `pendingMax` pending invitations already. When an invitation with this id exists, because
   * the answer of an earlier attempt was lost, the new code replaces its code, which was never shown.
   */
  insert(invitation: NewStoredInvitation, pendingMax: number): Promise<Invitation | null>;
  /** Pending ones, the newest first. */
  listPending(workspaceId: string): Promise<StoredInvitation[]>;
  /** False when the workspace has no such pending invitation. */
  delete(workspaceId: string, id: string): Promise<boolean>;
  /** Null also when its creator has none of these roles now. */
  findByCode(codeHash: Buffer, creatorRoles: readonly Role[], userId: string): Promise<PresentedInvitation | null>;
  /** Claims an invitation for one use. False when another person claimed it, or it was deleted. */
  claim(id: string, userId: string): Promise<boolean>;
  /** Removes a claim after the membership was refused. */
  release(id: string, userId: string): Promise<void>;
  /** Those that another person claimed stay as they are. */
  markRedeemed(ids: readonly string[], userId: string): Promise<void>;
  /** Deletes invitations that expired `days` ago. */
  deleteExpired(workspaceId: string, days: number): Promise<void>;
  /** All of a workspace by id, as they are stored. */
  page(workspaceId: string, page: InvitationPage): Promise<MovedInvitation[]>;
  /** Takes over invitations of another cell; `replace` deletes what is left of an earlier time. Throws `conflict` for one of another workspace. */
  put(workspaceId: string, invitations: readonly MovedInvitation[], replace: boolean): Promise<void>;
}

interface InvitationPage {
  readonly after?: string | null | undefined;
  readonly limit: number;
}

const COLUMNS = `i.id, i.workspace_id as "workspaceId", i.email, i.role, i.created_by as "createdBy",
  i.created_at as "createdAt", i.expires_at as "expiresAt", i.claimed_by as "claimedBy", i.redeemed_at as "redeemedAt"`;
const PENDING = `i.redeemed_at is null and i.expires_at > now()`;
/** With the current role of the creator, by the unique index workspace_members (workspace_id, user_id). */
const SELECT = `select ${COLUMNS}, m.role as "creatorRole" from workspace.invitations i
  left join sync.workspace_members m on m.workspace_id = i.workspace_id and m.user_id = i.created_by`;

export function invitationStore(knex: Knex): InvitationStore {
  return {
    insert: async (invitation, pendingMax) => {
      const sql = `insert into workspace.invitations as i
          (id, workspace_id, email, role, code_hash, created_by, expires_at)
        select :id, :workspaceId, cast(:email as text), :role, :codeHash, :createdBy,
          now() + make_interval(days => :expiresInDays)
        where (select count(*) from workspace.invitations i
          where i.workspace_id = :workspaceId and i.id <> :id and ${PENDING}) < :pendingMax and not ${isMoving(':workspaceId')}
        on conflict (id) do update set code_hash = excluded.code_hash
          where i.workspace_id = excluded.workspace_id and i.created_by = excluded.created_by
            and i.claimed_by is null and ${PENDING} and i.created_at > now() - make_interval(secs => :keptSeconds)
        returning ${COLUMNS}`;
      const keptSeconds = LIMITS.idempotencyKeptMs / 1000;
      const made = await firstRow<StoredInvitation>(knex, sql, { ...invitation, pendingMax, keptSeconds });
      return made ? invitationReply(made) : null;
    },
    // Index invitations (workspace_id, created_at).
    listPending: (workspaceId) =>
      rows(knex, `${SELECT} where i.workspace_id = :workspaceId and ${PENDING} order by i.created_at desc, i.id`, {
        workspaceId,
      }),
    delete: async (workspaceId, id) => {
      const sql = `delete from workspace.invitations i
        where i.id = :id and i.workspace_id = :workspaceId and ${PENDING} and not ${isMoving(':workspaceId')} returning i.id`;
      return (await rows(knex, sql, { id, workspaceId })).length > 0;
    },
    // Unique index invitations (code_hash), primary key of membership_losses. The database sets both times.
    findByCode: (codeHash, creatorRoles, userId) => {
      const sql = `select ${COLUMNS}, m.role as "creatorRole", coalesce(l.ended, 0) as "endedMemberships",
          coalesce(l.taken_at >= i.created_at, false) as "hasLostSince"
        from workspace.invitations i
        join sync.workspace_members m on m.workspace_id = i.workspace_id and m.user_id = i.created_by
        left join sync.membership_losses l on l.workspace_id = i.workspace_id and l.user_id = :userId
        where i.code_hash = :codeHash and m.role = any(:creatorRoles)`;
      return firstRow(knex, sql, { codeHash, creatorRoles, userId });
    },
    claim: async (id, userId) => {
      const sql = `update workspace.invitations set claimed_by = :userId
        where id = :id and redeemed_at is null and coalesce(claimed_by, :userId) = :userId returning id`;
      return (await rows(knex, sql, { id, userId })).length > 0;
    },
    release: async (id, userId) => {
      const sql = `update workspace.invitations set claimed_by = null
        where id = :id and claimed_by = :userId and redeemed_at is null`;
      await rows(knex, sql, { id, userId });
    },
    markRedeemed: async (ids, userId) => {
      const sql = `update workspace.invitations set claimed_by = :userId, redeemed_at = now()
        where id = any(:ids) and redeemed_at is null and coalesce(claimed_by, :userId) = :userId`;
      await rows(knex, sql, { ids, userId });
    },
    deleteExpired: async (workspaceId, days) => {
      const sql = `delete from workspace.invitations
        where workspace_id = :workspaceId and expires_at < now() - make_interval(days => :days)`;
      await rows(knex, sql, { workspaceId, days });
    },
    ...movingInvitations(knex),
  };
}

function movingInvitations(knex: Knex): Pick<InvitationStore, 'page' | 'put'> {
  return {
    // Index invitations (workspace_id, created_at): a workspace has hundreds.
    page: (workspaceId, { after = null, limit }) => {
      const sql = `${MOVED} where i.workspace_id = :workspaceId and (cast(:after as uuid) is null or i.id > :after)
        order by i.id limit :limit`;
      return rows(knex, sql, { workspaceId, after, limit });
    },
    put: (workspaceId, invitations, replace) =>
      knex.transaction(async (trx) => {
        if (replace)
          await rows(trx, `delete from workspace.invitations where workspace_id = :workspaceId`, { workspaceId });
        const given = JSON.stringify(invitations);
        if ((await rows(trx, PUT, { workspaceId, given })).length < invitations.length) throw new Fault('conflict');
      }),
  };
}

const MOVED = `select i.id, i.email, i.role, translate(encode(i.code_hash, 'base64'), '+/=', '-_') as "codeHash",
  i.created_by as "createdBy", ${isoTimeSql('i.created_at', 'US')} as "createdAt", ${isoTimeSql('i.expires_at', 'US')} as "expiresAt",
  i.claimed_by as "claimedBy", ${isoTimeSql('i.redeemed_at', 'US')} as "redeemedAt" from workspace.invitations i`;
/** The hash has 32 bytes, whose last group of base64 needs one `=`. */
const PUT = `insert into workspace.invitations as i (id, workspace_id, email, role, code_hash, created_by, created_at, expires_at, claimed_by, redeemed_at)
  select g.id, :workspaceId, g.email, g.role, decode(translate(g."codeHash", '-_', '+/') || '=', 'base64'), g."createdBy", g."createdAt",
    g."expiresAt", g."claimedBy", g."redeemedAt"
  from json_to_recordset(cast(:given as json)) as g(id uuid, email text, role text, "codeHash" text, "createdBy" uuid, "createdAt" timestamptz,
    "expiresAt" timestamptz, "claimedBy" uuid, "redeemedAt" timestamptz)
  on conflict (id) do update set email = excluded.email, role = excluded.role, code_hash = excluded.code_hash,
    created_by = excluded.created_by, created_at = excluded.created_at, expires_at = excluded.expires_at,
    claimed_by = excluded.claimed_by, redeemed_at = excluded.redeemed_at
    where i.workspace_id = excluded.workspace_id
  returning i.id`;

/** An invitation as clients see it. */
export function invitationReply(stored: StoredInvitation): Invitation {
  const { id, workspaceId, email, role, createdBy, createdAt, expiresAt } = stored;
  return {
    id,
    workspaceId,
    email,
    role,
    createdBy,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}
