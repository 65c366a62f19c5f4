import { timingSafeEqual } from 'node:crypto';
import { Fault, isStorableText, type Form } from '@wts/contracts';
import { sha256 } from '../domain/sha256.ts';
import type { Client } from '../domain/client.ts';
import type { Sender } from './client-documents.ts';
import type { FindClient } from './oauth.ts';

interface Credentials {
  readonly clientId: string;
  readonly secret: string | undefined;
  readonly isBasic: boolean;
}

interface ClientRequest {
  readonly form: Form;
  /** Every Authorization header. */
  readonly authorization: readonly string[];
  readonly sender: Sender;
}

/**
 * The client of a request to `/token` (RFC 6749 section 2.3). A public client names itself; a confidential one proves its secret in
 * the Authorization header or in the form. `invalid_client` makes clients of the agent endpoint register again.
 */
export async function authenticateClient(
  findClient: FindClient,
  { form: { values }, authorization, sender }: ClientRequest,
): Promise<Client> {
  const { clientId, secret, isBasic } = readCredentials(values, authorization);
  const client = await findClient(clientId, sender);
  if (client === null || !hasProved(client, secret)) throw invalidClient(isBasic);
  return client;
}

function readCredentials(values: Form['values'], authorization: readonly string[]): Credentials {
  const [header, ...others] = authorization;
  const [clientId, secret] = [values.get('client_id'), values.get('client_secret')];
  if (header === undefined) {
    if (clientId === undefined) throw new Fault('invalid_request', { message: 'client_id is missing.' });
    return { clientId, secret, isBasic: false };
  }
  const basic = others.length === 0 ? readBasic(header) : null;
  if (basic === null) throw invalidClient(true);
  if (secret !== undefined || (clientId !== undefined && clientId !== basic.clientId))
    throw new Fault('invalid_request', { message: 'The client is authenticated in two ways.' });
  return { ...basic, isBasic: true };
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Id and secret are encoded as in a form before they are joined (RFC 6749 section 2.3.1). */
function readBasic(header: string): Omit<Credentials, 'isBasic'> | null {
  const [, encoded = ''] = BASIC.exec(header) ?? [];
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) return null;
  try {
    const [clientId, secret] = [text.slice(0, colon), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    );
    if (clientId === undefined || !isStorableText(clientId)) return null;
    return { clientId, secret: secret === '' ? undefined : secret };
  } catch {
    return null;
  }
}

function hasProved({ secretHash }: Client, secret: string | undefined): boolean {
  if (secretHash === null) return secret === undefined;
  return secret !== undefined && timingSafeEqual(sha256(secret), secretHash);
}

function invalidClient(isBasic: boolean): Fault {
  return new Fault('invalid_client', isBasic ? { headers: { 'WWW-Authenticate': 'Basic realm="token"' } } : {});
}
