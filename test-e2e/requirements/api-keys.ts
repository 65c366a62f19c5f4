import type { Rule } from './rule.ts';

/** Personal API keys: sections 2, 4.2 and 5 of the specification. */
export const apiKeys: readonly Rule[] = [
  {
    id: 'api-keys.create.label-only',
    source: 'Specification 4.2',
    text: '`POST /api/auth/keys` takes `label` and no other field.',
    home: 'packages/contracts/src/api-keys.ts',
  },
  {
    id: 'api-keys.create.answer',
    source: 'Specification 4.2',
    text: 'Creation answers `key` with `id`, `label`, `keyPrefix`, `createdAt` and the raw `token`.',
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
  {
    id: 'api-keys.create.rate',
    source: 'Design 5',
    text: 'A person creates at most 120 keys a minute, over REST, GraphQL and the page together.',
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
  {
    id: 'api-keys.create.full-access',
    source: 'Design 4',
    text: 'A key made by REST holds `read`, `write` and `admin`.',
    home: 'services/auth/src/queries/resolve-api-key.ts',
  },
  {
    id: 'api-keys.token.once',
    source: 'Specification 2',
    text: 'The raw token is in the creation response only.',
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
  {
    id: 'api-keys.token.prefix',
    source: 'Specification 2',
    text: 'A token starts with the fixed service prefix; `keyPrefix` is a short leading part of it.',
    home: 'packages/access/src/api-key.ts',
  },
  {
    id: 'api-keys.token.stored-hashed',
    source: 'Design 4',
    text: 'A token is stored as a hash; the database cannot give it back.',
    home: 'packages/access/src/api-key.ts',
  },
  {
    id: 'api-keys.list.no-token',
    source: 'Specification 4.2',
    text: "`GET /api/auth/keys` answers the caller's keys without raw tokens.",
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
  {
    id: 'api-keys.revoke.dead',
    source: 'Specification 4.2',
    text: '`DELETE /api/auth/keys/:keyId` revokes the key: from then on it is 401.',
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
  {
    id: 'api-keys.list.maker',
    source: 'Design 4',
    text: 'A key shows what made it: a session, or which other key.',
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
  {
    id: 'api-keys.revoke.made',
    source: 'Design 4',
    text: '`DELETE /api/auth/keys/:keyId?includeMade=true` revokes the key with all keys that were made with it, directly or not.',
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
  {
    id: 'api-keys.revoke.everywhere',
    source: 'Design 4',
    text: 'Revocation reaches every replica within a second and closes open sockets of the key.',
    home: 'packages/service-kit/src/nats/revocations.ts',
  },
  {
    id: 'api-keys.permissions.read-only',
    source: 'Specification 5',
    text: 'A `read-only` key holds `read`.',
    home: 'services/auth/src/queries/resolve-api-key.ts',
  },
  {
    id: 'api-keys.permissions.full-access',
    source: 'Specification 5',
    text: 'A `full-access` key holds `read`, `write` and `admin`.',
    home: 'services/auth/src/queries/resolve-api-key.ts',
  },
  {
    id: 'api-keys.expiry.no-timer',
    source: 'Specification 5',
    text: 'A key does not expire on a timer.',
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
  {
    id: 'api-keys.cli.create',
    source: 'Specification 5',
    text: 'The command line creates keys: `api-key create <label> --permissions read-only`, or `full-access`.',
    home: 'packages/cli/src/commands/api-key.ts',
  },
  {
    id: 'api-keys.cli.revoke',
    source: 'Specification 5',
    text: 'The command line revokes keys: `api-key revoke <id>`.',
    home: 'packages/cli/src/commands/api-key.ts',
  },
  {
    id: 'api-keys.owner.revokes',
    source: 'Specification 5',
    text: 'The owner of a workspace sees and revokes the keys that are limited to it; one that reaches further is revoked by its person alone.',
    home: 'services/auth/src/commands/manage-api-keys.ts',
  },
];
