import { randomUUID } from 'node:crypto';
import { Fault, type oauthApi, type ReplyOf } from '@wts/contracts';
import { newOpaqueToken, type OpaqueToken } from '../domain/opaque-token.ts';
import { AUTH_METHODS, GRANT_TYPES, type Client } from '../domain/client.ts';
import { shownName } from '../domain/shown-name.ts';
import type { SecurityEvent, Visitor } from '../domain/security-event.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import { refusalOfRedirectUri } from './redirect-uri.ts';
import { AUTH_LIMITS } from '../limits.ts';

type Metadata = Readonly<Record<string, unknown>>;

/** The members of a client's metadata that this server uses; the others are ignored. */
type ClientMetadata = Pick<Client, 'name' | 'redirectUris' | 'authMethod' | 'grantTypes' | 'applicationType'>;

export type RegisteredClient = ReplyOf<typeof oauthApi.register>;

/** Who registers a client. */
interface ClientSender {
  /** Null: an operator. */
  readonly network: string | null;
  readonly visitor: Visitor;
  readonly actor?: NonNullable<SecurityEvent['actor']>;
}

/** Keeps authentication.oauth.register. */
export async function registerClient(
  { record }: { readonly record: SecurityRecord },
  metadata: Metadata,
  { network, ...by }: ClientSender,
): Promise<RegisteredClient> {
  const read = readClientMetadata(metadata);
  const secret = read.authMethod === 'none' ? null : newOpaqueToken('clientSecret');
  const client: Client = { id: randomUUID(), secretHash: secret?.hash ?? null, ...read };
  const registeredAt = await record.act(async ({ clients, record: write }) => {
    const details = { app: client.name };
    await write({ kind: 'client-registered', subjectId: client.id, ...by, details });
    return clients.insert(client, network);
  });
  return registrationOf(client, registeredAt, secret);
}

export function registrationOf(
  { id, name, redirectUris, authMethod, grantTypes, applicationType }: Client,
  registeredAt: Date,
  secret: OpaqueToken | null,
): RegisteredClient {
  return {
    client_id: id,
    client_id_issued_at: Math.floor(registeredAt.getTime() / 1000),
    ...(secret === null ? {} : { client_secret: secret.token, client_secret_expires_at: 0 }),
    ...(name === null ? {} : { client_name: name }),
    redirect_uris: redirectUris,
    token_endpoint_auth_method: authMethod,
    grant_types: grantTypes,
    response_types: grantTypes.includes('authorization_code') ? ['code'] : [],
    ...(applicationType === null ? {} : { application_type: applicationType }),
  };
}

const APPLICATION_TYPES = ['web', 'native'] as const;

/** Reads the metadata of a client (RFC 7591 section 2). Throws `invalid_redirect_uri` or `invalid_client_metadata`. Keeps authentication.oauth.register-fields. */
export function readClientMetadata(metadata: Metadata): ClientMetadata {
  const redirectUris = metadata.redirect_uris;
  if (!Array.isArray(redirectUris) || redirectUris.length < 1 || redirectUris.length > AUTH_LIMITS.redirectUrisMax) {
    const message = `redirect_uris must be a list of 1 to ${AUTH_LIMITS.redirectUrisMax} URIs.`;
    throw new Fault('invalid_redirect_uri', { message });
  }
  const refusal = redirectUris.map(refusalOfRedirectUri).find((sentence) => sentence !== null);
  if (refusal !== undefined) throw new Fault('invalid_redirect_uri', { message: refusal });
  listOf(metadata, 'response_types', ['code']);
  const authMethod = oneOf(metadata, 'token_endpoint_auth_method', AUTH_METHODS);
  return {
    name: readName(metadata.client_name),
    redirectUris: redirectUris as string[],
    authMethod: authMethod ?? 'client_secret_basic',
    grantTypes: listOf(metadata, 'grant_types', GRANT_TYPES) ?? ['authorization_code'],
    applicationType: oneOf(metadata, 'application_type', APPLICATION_TYPES) ?? null,
  };
}

function oneOf<V extends string>(metadata: Metadata, name: string, values: readonly V[]): V | undefined {
  const given = metadata[name];
  const found = values.find((value) => value === given);
  if (given === undefined || found !== undefined) return found;
  throw invalid(`${name} must be one of ${values.join(', ')}.`);
}

function listOf<V extends string>(metadata: Metadata, name: string, values: readonly V[]): readonly V[] | undefined {
  const given = metadata[name];
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || !given.every((item) => values.includes(item as V)))
    throw invalid(`${name} must be a list of ${values.join(', ')}.`);
  return values.filter((value) => given.includes(value));
}

/** Stored as pages show it, because the client wrote it. */
function readName(name: unknown): string | null {
  if (name === undefined) return null;
  if (typeof name !== 'string') throw invalid('client_name must be a string.');
  return shownName(name, AUTH_LIMITS.clientNameMax) || null;
}

function invalid(message: string): Fault {
  return new Fault('invalid_client_metadata', { message });
}
