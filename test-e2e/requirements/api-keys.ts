import type { Rows } from './rule.ts';

/** Personal API keys: sections 2, 4.2 and 5 of the specification. */
// prettier-ignore
export const apiKeys: Rows = [
  ['api-keys.create.label-only', '`POST /api/auth/keys` takes `label` and no other field.', 'packages/contracts/src/api-keys.ts', 'Specification 4.2'],
  ['api-keys.create.answer', 'Creation answers `key` with `id`, `label`, `keyPrefix`, `createdAt` and the raw `token`.', 'services/auth/src/commands/manage-api-keys.ts', 'Specification 4.2'],
  ['api-keys.create.rate', 'A person creates at most 120 keys a minute, over REST, GraphQL and the page together.', 'services/auth/src/commands/manage-api-keys.ts', 'Design 5'],
  ['api-keys.create.full-access', 'A key made by REST holds `read`, `write` and `admin`.', 'services/auth/src/queries/resolve-api-key.ts', 'Design 4'],
  ['api-keys.token.once', 'The raw token is in the creation response only.', 'services/auth/src/commands/manage-api-keys.ts', 'Specification 2'],
  ['api-keys.token.prefix', 'A token starts with the fixed service prefix; `keyPrefix` is a short leading part of it.', 'packages/access/src/api-key.ts', 'Specification 2'],
  ['api-keys.token.stored-hashed', 'A token is stored as a hash; the database cannot give it back.', 'packages/access/src/api-key.ts', 'Design 4'],
  ['api-keys.list.no-token', "`GET /api/auth/keys` answers the caller's keys without raw tokens.", 'services/auth/src/commands/manage-api-keys.ts', 'Specification 4.2'],
  ['api-keys.revoke.dead', '`DELETE /api/auth/keys/:keyId` revokes the key: from then on it is 401.', 'services/auth/src/commands/manage-api-keys.ts', 'Specification 4.2'],
  ['api-keys.list.maker', 'A key shows what made it: a session, or which other key.', 'services/auth/src/commands/manage-api-keys.ts', 'Design 4'],
  ['api-keys.revoke.made', '`DELETE /api/auth/keys/:keyId?includeMade=true` revokes the key with all keys that were made with it, directly or not.', 'services/auth/src/commands/manage-api-keys.ts', 'Design 4'],
  ['api-keys.revoke.everywhere', 'Revocation reaches every replica within a second and closes open sockets of the key.', 'packages/service-kit/src/nats/revocations.ts', 'Design 4'],
  ['api-keys.permissions.read-only', 'A `read-only` key holds `read`.', 'services/auth/src/queries/resolve-api-key.ts', 'Specification 5'],
  ['api-keys.permissions.full-access', 'A `full-access` key holds `read`, `write` and `admin`.', 'services/auth/src/queries/resolve-api-key.ts', 'Specification 5'],
  ['api-keys.expiry.no-timer', 'A key does not expire on a timer.', 'services/auth/src/commands/manage-api-keys.ts', 'Specification 5'],
  ['api-keys.cli.create', 'The command line creates keys: `api-key create <label> --permissions read-only`, or `full-access`.', 'packages/cli/src/commands/api-key.ts', 'Specification 5'],
  ['api-keys.cli.revoke', 'The command line revokes keys: `api-key revoke <id>`.', 'packages/cli/src/commands/api-key.ts', 'Specification 5'],
  ['api-keys.owner.revokes', 'The owner of a workspace sees and revokes the keys that are limited to it; one that reaches further is revoked by its person alone.', 'services/auth/src/commands/manage-api-keys.ts', 'Specification 5'],
];
