import { oauthApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import type { OAuth } from '../oauth/oauth.ts';

/** The look-up of grants by services that verify access tokens. */
export function mountGrants(router: IRouter, { grantStore }: OAuth): void {
  mount(router, oauthApi.internalResolveGrant, async ({ body }) => ({
    ok: true,
    grant: await grantStore.resolve(body.grantId),
  }));
}
