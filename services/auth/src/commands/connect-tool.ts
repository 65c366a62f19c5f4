import { readApiKey } from '@wts/access';
import { Fault, type ApiKey, type Principal } from '@wts/contracts';
import type { PeopleContext } from '../context.ts';
import { newOpaqueToken } from '../domain/opaque-token.ts';
import { challengeOf } from '../domain/pkce.ts';
import type { Visitor } from '../domain/security-event.ts';
import { sessionPrincipal } from '../domain/session-principal.ts';
import { sha256 } from '../domain/sha256.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { AllowedKey } from '../store/connect-codes.ts';
import type { PendingKey } from '../store/pending-requests.ts';
import type { Session } from '../store/sessions.ts';
import { createApiKey, revokeKeys, type KeyContext } from './manage-api-keys.ts';

/** A tool that waits for its person. */
export interface PendingConnection {
  readonly toolName: string;
  readonly challenge: string;
  /** Where the tool waits for the answer on the device of the person; null when the person copies the code. */
  readonly callback: { readonly port: number; readonly state: string } | null;
  /** Which access it asks for. */
  readonly access: string | null;
}

/** How the tool gets the answer: the address of its redirect, or a code that the page shows. */
export type Connected = { readonly to: string } | { readonly code: string | null; readonly toolName: string };

interface Decision {
  readonly session: Session;
  readonly key: PendingKey;
  /** Null when the person refuses. */
  readonly allowed: Omit<AllowedKey, 'label'> | null;
  readonly visitor: Visitor;
}

/**
 * The decision ends the request, so a form that is sent twice gives one code. Null when the request has ended.
 */
export async function decideConnection(
  { pending, record }: Pick<PeopleContext, 'pending' | 'record'>,
  { session, key, allowed, visitor }: Decision,
): Promise<Connected | null> {
  const { id: sessionId, userId, accountId } = session;
  const taken = await pending.take<PendingConnection>(key);
  if (taken === null) return null;
  const { toolName, challenge, callback } = taken;
  let code: string | null = null;
  if (allowed !== null) {
    const { token, hash } = newOpaqueToken('code');
    const lifeMs = callback === null ? AUTH_LIMITS.copiedCodeMs : AUTH_LIMITS.codeMs;
    await record.act(async ({ connectCodes, record: write }) => {
      await connectCodes.insert(hash, { ...allowed, label: toolName, userId, sessionId, challenge, lifeMs });
      const about = { userId, accountId, workspaceId: allowed.workspaceId, visitor };
      await write({ kind: 'connect', ...about, details: { tool: toolName, access: allowed.permissions } });
    });
    code = token;
  }
  if (callback === null) return { code, toolName };
  const { port, state } = callback;
  const answer = new URLSearchParams({ ...(code === null ? { error: 'access_denied' } : { code }), state });
  // The port is a number, so no part of a request can lead to another host.
  return { to: `http://127.0.0.1:${port}/callback?${answer.toString()}` };
}

/**
 * The API key of a code. A code works once, and a wrong verifier ends it. A second use with the verifier revokes the key and the keys
 * made with it, because one of the two who have code and verifier is a thief; one with a wrong verifier revokes nothing, because
 * otherwise a leaked code would be enough. Keeps authentication.connect.code-once.
 */
export async function exchangeConnectCode(
  context: KeyContext & Pick<PeopleContext, 'connectCodes'>,
  { code, verifier, visitor }: { readonly code: string; readonly verifier: string; readonly visitor: Visitor },
): Promise<ApiKey & { readonly token: string }> {
  const { connectCodes } = context;
  const hash = sha256(code);
  const use = await connectCodes.use(hash, challengeOf(verifier) ?? '');
  if (use === null || !use.isVerified) throw new Fault('invalid_grant');
  const { userId, keyId, label, permissions, workspaceId, keyExpiresAt } = use;
  const revoke = async (id: string): Promise<never> => {
    await revokeKeys(context, { by: { kind: 'system' }, visitor }, (keys) => keys.revokeWithMade(userId, id));
    throw new Fault('invalid_grant');
  };
  if (use.uses > 1 && keyId !== null) return revoke(keyId);
  if (use.uses > 1 || !use.isLive) throw new Fault('invalid_grant');
  const principal: Principal = sessionPrincipal({ id: use.sessionId, userId });
  const limits = {
    ...(workspaceId === null ? {} : { workspaceId }),
    ...(keyExpiresAt === null ? {} : { expiresAt: keyExpiresAt.toISOString() }),
  };
  const key = await createApiKey(context, principal, { label, permissions, ...limits }, { visitor });
  return (await connectCodes.keepKey(hash, key.id)) ? key : revoke(key.id);
}

/** Revokes the key of a token, whichever scopes it has: a tool that signs out may have a key that can only read. */
export async function endConnectedKey(context: KeyContext, token: string, visitor: Visitor): Promise<void> {
  const hash = readApiKey(token, context.apiKeyPrefix)?.hash;
  const key = hash === undefined ? null : await context.keys.findLive(hash);
  if (key === null) return;
  const by = { kind: 'person', id: key.userId } as const;
  await revokeKeys(context, { by, visitor }, (keys) => keys.revoke(key.userId, key.id, []));
}
