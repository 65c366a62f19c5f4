import { oauthApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import type { Context } from '../context.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { requireSecondFactor } from '../queries/require-second-factor.ts';
import { shardOf } from './sender.ts';

/** The look-up of grants by services that verify access tokens. */
export function mountGrants(
  router: IRouter,
  { grantStore }: OAuth,
  context: Pick<Context, 'factors' | 'issuer'>,
): void {
  mount(router, oauthApi.internalResolveGrant, async ({ req, body }) => {
    const grant = await grantStore.resolve(body.grantId);
    if (grant !== null) await requireSecondFactor(context, grant.userId, shardOf(req));
    return { ok: true, grant };
  });
}
