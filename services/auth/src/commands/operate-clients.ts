import { Fault } from '@wts/contracts';
import type { Context } from '../context.ts';
import { publishRevoked } from '../credentials/publish-revoked.ts';
import { isDocumentAddress } from '../oauth/client-documents.ts';
import { registerClient, registrationOf, type RegisteredClient } from '../oauth/client-metadata.ts';
import type { Operator } from './disable-person.ts';

/**
 * Registers a client as RFC 7591 does, also where registration is closed; with the address of a document as its `client_id`, it allows the
 * client that this document describes. Neither is ever deleted for want of use.
 */
export async function addClient(
  { record }: Pick<Context, 'record'>,
  metadata: Readonly<Record<string, unknown>>,
  operator: Operator,
): Promise<RegisteredClient> {
  const { client_id: id } = metadata;
  if (id === undefined) return registerClient({ record }, metadata, { network: null, ...operator });
  if (typeof id !== 'string' || !isDocumentAddress(id) || URL.parse(id)?.href !== id)
    throw new Fault('invalid_client_metadata', { message: 'client_id must be the https address of a document.' });
  const listed = { id, secretHash: null, name: null, redirectUris: [], authMethod: 'none', grantTypes: [] } as const;
  const client = { ...listed, applicationType: null };
  const createdAt = await record.act(async ({ clients, record: write }) => {
    await write({ kind: 'client-registered', subjectId: id, ...operator, details: { app: id } });
    return clients.insert(client, null);
  });
  return registrationOf(client, createdAt, null);
}

/** Returns how many people had it connected. Their access tokens stop working within a second. */
export async function deleteClient(
  { record, revoke }: Pick<Context, 'record' | 'revoke'>,
  clientId: string,
  operator: Operator,
): Promise<number> {
  const ended = await record.act(async ({ clients, record: write }) => {
    const revoked = await clients.delete(clientId);
    if (revoked === null) throw new Fault('not_found', { message: 'There is no client with this id.' });
    const details = { people: String(revoked.length) };
    await write({ kind: 'client-deleted', subjectId: clientId, ...operator, details });
    return revoked;
  });
  await publishRevoked(revoke, ended);
  return ended.length;
}
