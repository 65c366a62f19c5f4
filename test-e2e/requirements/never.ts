import type { Rule } from './rule.ts';

/** What must never happen: design 14, in its order. */
export const never: readonly Rule[] = [
  {
    id: 'never.actions-lost',
    source: 'Design 14.1',
    text: 'A committed action is never missing, doubled or out of order on any socket, poller or webhook lane, under any crash, pause, partition or restart.',
    home: 'packages/log/src/stream/consume.ts',
  },
  {
    id: 'never.acknowledged-lost',
    source: 'Design 14.2',
    text: 'A change that was acknowledged is never lost.',
    home: 'services/sync/src/commit/engine.ts',
  },
  {
    id: 'never.applied-twice',
    source: 'Design 14.3',
    text: 'A mutation is never applied twice.',
    home: 'services/sync/src/commit/engine.ts',
  },
  {
    id: 'never.shown-outside',
    source: 'Design 14.4',
    text: 'Data of a workspace or private project is never shown to a caller without access, through any operation, id, count, error or timing.',
    home: 'services/sync/src/commit/visibility.ts',
  },
  {
    id: 'never.non-public-address',
    source: 'Design 14.5',
    text: 'No request ever goes to a non-public address.',
    home: 'packages/service-kit/src/egress/address-guard.ts',
  },
  {
    id: 'never.secret-in-clear',
    source: 'Design 14.6',
    text: 'A secret is never in a log, an error, a URL, or at rest in clear.',
    home: 'packages/service-kit/src/observe/logger.ts',
  },
  {
    id: 'never.logs.postgres',
    source: 'Design 14.4',
    text: 'The content of records is never in the log of PostgreSQL, also not of failed, waiting or slow statements.',
    home: 'infra/postgres/roles.sql',
  },
  {
    id: 'never.nats',
    source: 'Design 14.10',
    text: 'On NATS, a service publishes and receives only what it needs. Only sync may create or delete consumers of the log, and replies reach only the user that asked.',
    home: 'packages/contracts/src/nats-users.ts',
  },
  {
    id: 'never.locks',
    source: 'Design 14.10',
    text: 'No role of the database but that of sync can hold up commits; the role that only reads takes no lock that services use.',
    home: 'infra/postgres/roles.sql',
  },
  {
    id: 'never.unbounded',
    source: 'Design 14.7',
    text: 'No memory, queue, retry or wait is without bound.',
    home: 'packages/contracts/src/limits.ts',
  },
  {
    id: 'never.one-takes-all',
    source: 'Design 14.10',
    text: 'No caller blocks the others: every scarce resource is shared by network and person, and work whose caller no longer waits is dropped.',
    home: 'packages/service-kit/src/fairness/fair-gate.ts',
  },
  {
    id: 'never.500-by-input',
    source: 'Design 14.8',
    text: 'Input never causes a 500.',
    home: 'packages/service-kit/src/http/answer.ts',
  },
  {
    id: 'never.shapeless-error',
    source: 'Design 14.9',
    text: 'No error is without the common shape and `Api-Version`.',
    home: 'packages/service-kit/src/http/answer.ts',
  },
  {
    id: 'never.one-frozen',
    source: 'Design 14.10',
    text: 'Calls treat every address behind a name separately, and a hanging replica delays only a few requests.',
    home: 'packages/service-kit/src/call/addresses.ts',
  },
];
