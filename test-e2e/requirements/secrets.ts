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
];
