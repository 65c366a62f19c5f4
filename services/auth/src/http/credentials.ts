import { credentialApi, oauthApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { resolvePerson } from '../commands/resolve-person.ts';
import type { PeopleContext } from '../context.ts';
import { requireFactorToJoin, requireSecondFactor } from '../queries/require-second-factor.ts';
import { resolveApiKey } from '../queries/resolve-api-key.ts';
import { shardOf } from './sender.ts';

/** Sorts before the id of every credential. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** The internal operations that give other services the caller of a credential, and the credentials that ended. */
export function mountCredentials(router: IRouter, context: PeopleContext): void {
  mount(router, credentialApi.internalResolveApiKey, async ({ req, body }) => {
    const principal = await resolveApiKey(context.keys, body.tokenHash);
    context.metrics.keyResolved(principal !== null);
    if (principal !== null) {
      await requireSecondFactor(context, principal.userId, shardOf(req));
      context.keyUse.record(principal.credential.id);
    }
    return { ok: true, principal };
  });
  mount(router, oauthApi.internalResolveGrant, async ({ req, body }) => {
    const grant = await context.oauth.grantStore.resolve(body.grantId);
    if (grant !== null) await requireSecondFactor(context, grant.userId, shardOf(req));
    return { ok: true, grant };
  });
  mount(router, credentialApi.internalListRevokedCredentials, async ({ body: { since, afterId = LOWEST_ID } }) => {
    const after = since === undefined ? null : { since, id: afterId };
    return { ok: true, ...(await context.revocations.list(after, credentialApi.REVOKED_CREDENTIALS_PAGE)) };
  });
  mount(router, credentialApi.internalResolvePerson, async ({ body }) => ({
    ok: true,
    userId: await resolvePerson(context, body),
  }));
  mount(router, credentialApi.internalListAddresses, async ({ body }) => ({
    ok: true,
    addresses: await context.identities.addressesOf(body.userId),
  }));
  mount(router, credentialApi.internalCheckJoining, async ({ body }) => {
    await requireFactorToJoin(context, body);
    const cell = context.cells.isOne ? null : await context.directory.cellOf(body.workspaceId);
    if (cell !== null) await context.copyPerson(body.userId, cell.shard);
    return { ok: true };
  });
}
