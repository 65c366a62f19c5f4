import { contract } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { count, hasMore, objectOf, okBody, text, textOrNull, timestamp, timestampOrNull } from '../parts.ts';
import type { TypeOf } from '../type-of.ts';
import { registeredClient } from '../auth/oauth.ts';
import { common, OPERATOR_ERRORS, pageQuery } from './parts.ts';

const clientSchema = objectOf({
  clientId: { ...text, description: 'An id, or the address of the document of the client.' },
  name: textOrNull,
  redirectUris: { type: 'array', items: text },
  authMethod: text,
  isByOperator: { type: 'boolean', description: 'The operator registered it, so it is never deleted by itself.' },
  grants: { ...count, description: 'How many people have it connected.' },
  createdAt: timestamp,
  lastUsedAt: timestampOrNull,
});

export type OperatorClient = TypeOf<typeof clientSchema>;

export const listClients = contract({
  ...common,
  id: 'operatorListClients',
  method: 'GET',
  path: '/operator/clients',
  summary: 'List the registered clients of OAuth, newest first',
  query: { ...pageQuery, properties: { ...pageQuery.properties, after: { type: 'string', maxLength: 2048 } } },
  reply: { status: 200, schema: okBody({ clients: { type: 'array', items: clientSchema }, hasMore }) },
});

/** Registers it like RFC 7591; with `client_id` alone it allows the client that this document describes. */
export const registerClient = contract({
  ...common,
  id: 'operatorRegisterClient',
  method: 'POST',
  path: '/operator/clients',
  summary: 'Register a client of OAuth, also where registration is closed',
  idempotencyKey: true,
  body: { type: 'object' },
  bodyBytesMax: LIMITS.formBytes,
  reply: { status: 201, schema: okBody({ client: registeredClient }) },
  errors: [...OPERATOR_ERRORS, 'invalid_redirect_uri', 'invalid_client_metadata'],
});

export const deleteClient = contract({
  ...common,
  id: 'operatorDeleteClient',
  method: 'DELETE',
  path: '/operator/clients',
  summary: 'Delete a client of OAuth, which ends what people allowed it',
  query: objectOf({ clientId: { type: 'string', minLength: 1, maxLength: 2048 } }),
  reply: { status: 200, schema: okBody({ endedGrants: count }) },
});
