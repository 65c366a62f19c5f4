import { operatorApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { addClient, deleteClient } from '../commands/operate-clients.ts';
import type { OperatorContext } from '../operator-context.ts';
import { operatorOf, type OperatorOptions } from './operator-guard.ts';
import { cut, pageOf } from './operator-page.ts';

/** Clients of OAuth, as operators register and end them. */
export function mountOperatorClients(router: IRouter, context: OperatorContext, options: OperatorOptions): void {
  const { clients } = context.oauth;
  mount(
    router,
    operatorApi.listClients,
    async ({ query }) => {
      const page = pageOf(query);
      const { items, hasMore } = cut(await clients.list(page), page);
      return { ok: true, clients: items, hasMore };
    },
    options,
  );
  mount(
    router,
    operatorApi.registerClient,
    async (call) => ({ ok: true, client: await addClient(context, call.body, operatorOf(call)) }),
    options,
  );
  mount(
    router,
    operatorApi.deleteClient,
    async (call) => ({ ok: true, endedGrants: await deleteClient(context, call.query.clientId, operatorOf(call)) }),
    options,
  );
}
