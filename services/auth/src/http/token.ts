import { Fault, oauthApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { exchangeCode } from '../oauth/authorization-code.ts';
import { authenticateClient } from '../oauth/client-authentication.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { refreshTokens } from '../oauth/refresh-token.ts';
import { required } from '../oauth/token-request.ts';
import type { GrantType } from '../domain/client.ts';
import { networkOf, visitorOf } from './sender.ts';

const GRANTS = { authorization_code: exchangeCode, refresh_token: refreshTokens } as const;

/**
 * The token endpoint. The order of the checks decides which error a wrong request gets: its form, its grant, its client.
 * Keeps authentication.oauth.token-request, authentication.oauth.token-answer and authentication.not-offered.
 */
export function mountToken(router: IRouter, oauth: OAuth): void {
  mount(router, oauthApi.token, async (call) => {
    const { body: form, req, res, signal } = call;
    const [repeated] = form.repeated;
    if (repeated !== undefined) throw new Fault('invalid_request', { message: 'A parameter is given more than once.' });
    const grantType = required(form.values, 'grant_type');
    if (!isOffered(grantType)) throw new Fault('unsupported_grant_type');
    const authorization = req.headersDistinct['authorization'] ?? [];
    const sender = { network: networkOf(req), signal };
    const client = await authenticateClient(oauth.findClient, { form, authorization, sender });
    if (!client.grantTypes.includes(grantType)) throw new Fault('unauthorized_client');
    const reply = await GRANTS[grantType](oauth, { client, values: form.values, visitor: visitorOf(call) });
    res.setHeader('cache-control', 'no-store').setHeader('pragma', 'no-cache');
    return reply;
  });
}

function isOffered(grantType: string): grantType is GrantType {
  return Object.hasOwn(GRANTS, grantType);
}
