import { operatorApi } from '@wts/contracts';
import { addClient, deleteClient } from '../commands/operate-clients.ts';
import type { OperatorContext } from '../context.ts';
import { operatorOf, type MountOperation } from './operator-guard.ts';
import { cut, pageOf } from './operator-page.ts';

/** Clients of OAuth, as operators register and end them. */
export function mountOperatorClients(mountOperation: MountOperation, context: OperatorContext): void {
  mountOperation(operatorApi.listClients, async ({ query }) => {
    const page = pageOf(query);
    const { items, hasMore } = cut(await context.oauth.clients.list(page), page);
    return { ok: true, clients: items, hasMore };
  });
  mountOperation(operatorApi.registerClient, async (call) => ({
    ok: true,
    client: await addClient(context, call.body, operatorOf(call)),
  }));
  mountOperation(operatorApi.deleteClient, async (call) => ({
    ok: true,
    endedGrants: await deleteClient(context, call.query.clientId, operatorOf(call)),
  }));
}
