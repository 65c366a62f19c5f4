import { Fault, oauthApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { registerClient } from '../oauth/client-metadata.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { networkOf, visitorOf } from './sender.ts';

/** Dynamic registration of clients, unless the operator closed it (keeps operator.clients.closed). Nothing of RFC 7592 is offered, so a client that lost its id registers again. */
export function mountRegister(router: IRouter, oauth: OAuth): void {
  mount(router, oauthApi.register, async (call) => {
    const { body, req, res } = call;
    if (oauth.clientRegistration === 'closed') throw new Fault('forbidden', { message: CLOSED });
    const sender = { network: networkOf(req), visitor: visitorOf(call) };
    const reply = await registerClient(oauth, body, sender);
    res.setHeader('cache-control', 'no-store');
    return reply;
  });
}

const CLOSED =
  'This service registers no clients by itself. Ask its operator to register the app: wts admin client add.';
