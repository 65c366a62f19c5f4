import type { Rule } from './rule.ts';

/** How the secrets of an installation are changed while it serves. */
export const secrets: readonly Rule[] = [
  {
    id: 'secrets.database',
    source: 'Design 12',
    text: 'The password of a role of PostgreSQL is changed without a failed request: a service knows the old and the new one meanwhile, and connects with whichever is accepted.',
    home: 'packages/service-kit/src/config/database-settings.ts',
  },
  {
    id: 'secrets.nats',
    source: 'Design 12',
    text: 'The password of a user of NATS is changed without a failed request: a service knows the old and the new one meanwhile, and connects with whichever is accepted.',
    home: 'packages/service-kit/src/config/nats-settings.ts',
  },
  {
    id: 'secrets.issuers',
    source: 'Design 4, 12',
    text: 'Tokens of either secret of an issuer are accepted while one replaces the other.',
    home: 'packages/access/src/issuers.ts',
  },
  {
    id: 'secrets.sealed',
    source: 'Design 12',
    text: 'What a key of WEBHOOK_SECRET_KEY or AUTH_SECRET_KEY encrypts is sealed with the first one soon after that changed, so that the key before can be removed.',
    home: 'packages/service-kit/src/sealing/reseal.ts',
  },
  {
    id: 'secrets.signing-keys',
    source: 'Design 10, 12',
    text: 'An operator replaces the key of access tokens before its time: the next one is published an hour before it signs, or, when the key before is known to others, signs at once while tokens of that one are refused.',
    home: 'services/auth/src/oauth/signing-keys.ts',
  },
  {
    id: 'secrets.drop',
    source: 'Design 12',
    text: 'The last step of a change of WEBHOOK_SECRET_KEY or AUTH_SECRET_KEY is refused while a row is sealed with another key than the new one.',
    home: 'infra/local/src/installation/still-sealed.ts',
  },
  {
    id: 'secrets.steps',
    source: 'Design 12',
    text: 'Each secret changes in three steps, by one command that refuses a step that is not the next one; a process with the file of a step and one with that of the next accept each other, and after the last step the old secret is refused.',
    home: 'infra/local/src/installation/rotate.ts',
  },
];
