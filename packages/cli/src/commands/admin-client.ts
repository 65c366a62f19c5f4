/** Clients of OAuth, as operators register and end them. */
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import type { View } from '../output/view.ts';
import { openOperator } from '../session/operator.ts';
import { allPages } from './admin-pages.ts';
import { confirm } from './ask.ts';

interface Client {
  readonly clientId: string;
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  readonly isByOperator: boolean;
  readonly grants: number;
  readonly createdAt: string;
}

const VIEW: View<Client> = {
  nouns: ['client', 'clients'],
  id: ({ clientId }) => clientId,
  columns: [
    { title: 'NAME', value: ({ name }) => name, isCut: true },
    { title: 'BY', value: ({ isByOperator }) => (isByOperator ? 'operator' : 'itself') },
    { title: 'PEOPLE', value: ({ grants }) => grants, isRight: true },
    { title: 'REDIRECT', value: ({ redirectUris }) => redirectUris[0], isCut: true },
    { title: 'REGISTERED', value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => createdAt.slice(0, 10) },
    { title: 'ID', value: ({ clientId }) => clientId },
  ],
};

export async function list(call: Call): Promise<void> {
  await call.output.list(await allPages(call, 'clients', VIEW), VIEW);
}

interface Registered {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly client_name?: string;
  readonly redirect_uris: readonly string[];
}

export async function add(call: Call): Promise<void> {
  const { words, options, output } = call;
  const name = words.join(' ');
  const redirectUris = options.list('redirectUri');
  const isDocument = name.startsWith('https://');
  if (!isDocument && redirectUris.length === 0) throw usageFault('Name where people are sent back to: --redirect-uri.');
  const metadata = {
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: options.flag('withSecret') ? 'client_secret_basic' : 'none',
  };
  const operator = await openOperator(call);
  const body = isDocument ? { client_id: name } : metadata;
  const { client } = await operator.post<{ client: Registered }>('/clients', body);
  await output.record(client, client.client_id, [
    { title: 'Client id', value: client.client_id },
    { title: 'Secret', value: client.client_secret },
    { title: 'Name', value: client.client_name },
    { title: 'Redirect', value: client.redirect_uris.join(', ') },
  ]);
  if (client.client_secret !== undefined) await output.note('The secret is shown only now.');
}

export async function remove(call: Call): Promise<void> {
  const [clientId = ''] = call.words;
  await confirm(call, `Delete the client ${clientId}? Everyone who connected it loses it.`);
  const operator = await openOperator(call);
  const { endedGrants } = await operator.delete<{ endedGrants: number }>('/clients', { clientId });
  const line = `Deleted the client, which ${endedGrants} people had connected`;
  await call.output.changed({ clientId, endedGrants }, { id: clientId, key: clientId, line });
}
