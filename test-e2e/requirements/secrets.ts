import type { Rows } from './rule.ts';

/** How the secrets of an installation are changed while it serves. */
// prettier-ignore
export const secrets: Rows = [
  ['secrets.database', 'The password of a role of PostgreSQL is changed without a failed request: a service knows the old and the new one meanwhile, and connects with whichever is accepted.', 'packages/service-kit/src/config/database-settings.ts', 'Design 12'],
  ['secrets.nats', 'The password of a user of NATS is changed without a failed request: a service knows the old and the new one meanwhile, and connects with whichever is accepted.', 'packages/service-kit/src/config/nats-settings.ts', 'Design 12'],
  ['secrets.issuers', 'Tokens of either secret of an issuer are accepted while one replaces the other.', 'packages/access/src/issuers.ts', 'Design 4, 12'],
  ['secrets.sealed', 'What a key of WEBHOOK_SECRET_KEY or AUTH_SECRET_KEY encrypts is sealed with the first one soon after that changed, so that the key before can be removed.', 'packages/service-kit/src/sealing/reseal.ts', 'Design 12'],
  ['secrets.signing-keys', 'An operator replaces the key of access tokens before its time: the next one is published an hour before it signs, or, when the key before is known to others, signs at once while tokens of that one are refused.', 'services/auth/src/oauth/signing-keys.ts', 'Design 10, 12'],
  ['secrets.drop', 'The last step of a change of WEBHOOK_SECRET_KEY or AUTH_SECRET_KEY is refused while a row is sealed with another key than the new one.', 'infra/local/src/installation/still-sealed.ts', 'Design 12'],
  ['secrets.steps', 'Each secret changes in three steps, by one command that refuses a step that is not the next one; a process with the file of a step and one with that of the next accept each other, and after the last step the old secret is refused.', 'infra/local/src/installation/rotate.ts', 'Design 12'],
];
