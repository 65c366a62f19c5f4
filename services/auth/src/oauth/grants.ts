import { randomUUID } from 'node:crypto';
import type { RevocationSender } from '@wts/service-kit/nats';
import type { Logger } from '@wts/service-kit/observe';
import { publishGrantsRevoked, publishRevoked } from '../credentials/publish-revoked.ts';
import { newOpaqueToken } from '../domain/opaque-token.ts';
import { NO_VISITOR, type SecurityEvent, type Visitor } from '../domain/security-event.ts';
import type { RefreshHashes } from '../domain/refresh-token.ts';
import type { Act, SecurityRecord } from '../record/security-record.ts';
import type { GrantStore, ListedGrant, NewGrant, RevokedGrant } from '../store/grants.ts';

/** What people allow clients, from their consent to its end. */
export interface Grants {
  /**
   * Returns the code that the client gets by the redirect. A person with more grants than AUTH_LIMITS.grantsPerPersonMax loses those that
   * were used longest ago.
   */
  createWithCode(grant: Omit<NewGrant, 'id'>, visitor: Visitor): Promise<string | null>;
  listOf(userId: string): Promise<ListedGrant[]>;
  /** False when the person has no such grant, or it is revoked already. Its access tokens stop working within a second. */
  revoke(userId: string, id: string, visitor: Visitor): Promise<boolean>;
  /** Ends a grant that is limited to a workspace, for an owner of it. False when there is none. */
  revokeIn(
    workspaceId: string,
    id: string,
    by: { readonly ownerId: string; readonly visitor: Visitor },
  ): Promise<boolean>;
  revokeAllOf(userId: string, reason: string, visitor: Visitor): Promise<void>;
  /** Revokes the grants of all people who sign in with a password, some thousands in one call. False when there are none. */
  revokeOfAccounts(): Promise<boolean>;
  /** Revokes the grant of a code that is presented again: one of the two who have it is a thief. */
  revokeOfUsedCode(hash: Buffer, visitor: Visitor): Promise<boolean>;
  /** The same for a refresh token that was replaced. */
  revokeOfUsedToken(token: RefreshHashes, visitor: Visitor): Promise<boolean>;
}

interface GrantsOptions {
  readonly store: GrantStore;
  readonly record: SecurityRecord;
  readonly revoke: RevocationSender;
  readonly log: Logger;
}

/** Why grants ended, as the security record says it. */
interface Cause {
  readonly reason: string;
  readonly actor: NonNullable<SecurityEvent['actor']>;
  readonly visitor: Visitor;
}

const bySystem = (reason: string, visitor: Visitor): Cause => ({ reason, actor: { kind: 'system' }, visitor });

export function openGrants({ store, record, revoke, log }: GrantsOptions): Grants {
  const endAndPublish = async (cause: Cause, work: (grants: GrantStore) => Promise<RevokedGrant[]>): Promise<boolean> =>
    publishRevoked(revoke, await record.act((act) => end(act, cause, work)));
  return {
    createWithCode: async (grant, visitor) => {
      const { token, hash } = newOpaqueToken('code');
      const isMade = await record.act(async ({ grants, record: write }) => {
        const id = randomUUID();
        if (!(await grants.insert({ id, ...grant }, hash))) return false;
        const { userId, workspaceId, clientName: app, scopes } = grant;
        const about = { userId, workspaceId: workspaceId ?? null, subjectId: id, visitor };
        await write({ kind: 'consent', ...about, details: { app, access: scopes.join(' ') } });
        return true;
      });
      if (!isMade) return null;
      try {
        const cause = bySystem('more apps than a person can have', visitor);
        await endAndPublish(cause, (grants) => grants.revokeExcess(grant.userId));
      } catch (err) {
        // The code is stored, so the client gets it.
        log.warn({ err }, 'could not revoke the excess grants of a person; their next consent tries again');
      }
      return token;
    },
    listOf: (userId) => store.listOf(userId),
    revoke: (userId, id, visitor) => {
      const actor = { kind: 'person', id: userId } as const;
      return endAndPublish({ reason: 'it was revoked', actor, visitor }, (grants) => grants.revoke(userId, id));
    },
    revokeIn: (workspaceId, id, { ownerId, visitor }) => {
      const actor = { kind: 'person', id: ownerId } as const;
      return endAndPublish({ reason: 'an owner of the workspace ended it', actor, visitor }, (grants) =>
        grants.revokeIn(workspaceId, id),
      );
    },
    revokeAllOf: async (userId, reason, visitor) => {
      if (await record.act((act) => endAllGrantsOf(act, { userId, reason, visitor })))
        await publishGrantsRevoked(revoke, userId);
    },
    revokeOfAccounts: () =>
      endAndPublish(bySystem('accounts with a password are closed', NO_VISITOR), (grants) => grants.revokeOfAccounts()),
    revokeOfUsedCode: (hash, visitor) =>
      endAndPublish(bySystem('a code was used twice', visitor), (grants) => grants.revokeOfUsedCode(hash)),
    revokeOfUsedToken: (used, visitor) =>
      endAndPublish(bySystem('a replaced token was used again', visitor), (grants) => grants.revokeOfUsedToken(used)),
  };
}

type EndContext = Pick<Act, 'grants' | 'record'>;

/** Ends grants in an act, with their events. */
async function end(
  { grants, record }: EndContext,
  { reason, actor, visitor }: Cause,
  work: (grants: GrantStore) => Promise<RevokedGrant[]>,
): Promise<RevokedGrant[]> {
  const ended = await work(grants);
  for (const { id: subjectId, userId, clientName, workspaceId } of ended) {
    const details = { app: clientName, reason };
    await record({ kind: 'grant-ended', userId, workspaceId, subjectId, actor, visitor, details });
  }
  return ended;
}

/** Ends the grants of a person in the act by which they have to end; it is published afterward. False when there was none. */
export async function endAllGrantsOf(
  act: EndContext,
  { userId, reason, visitor }: { readonly userId: string; readonly reason: string; readonly visitor: Visitor },
): Promise<boolean> {
  return (await end(act, bySystem(reason, visitor), (grants) => grants.revokeAllOf([userId]))).length > 0;
}
