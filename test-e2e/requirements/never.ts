import type { Rows } from './rule.ts';

/** What must never happen: design 14, in its order. */
// prettier-ignore
export const never: Rows = [
  ['never.actions-lost', 'A committed action is never missing, doubled or out of order on any socket, poller or webhook lane, under any crash, pause, partition or restart.', 'packages/log/src/stream/consume.ts', 'Design 14.1'],
  ['never.acknowledged-lost', 'A change that was acknowledged is never lost.', 'services/sync/src/commit/engine.ts', 'Design 14.2'],
  ['never.applied-twice', 'A mutation is never applied twice.', 'services/sync/src/commit/engine.ts', 'Design 14.3'],
  ['never.shown-outside', 'Data of a workspace or private project is never shown to a caller without access, through any operation, id, count, error or timing.', 'services/sync/src/rules/visibility.ts', 'Design 14.4'],
  ['never.non-public-address', 'No request ever goes to a non-public address.', 'packages/service-kit/src/egress/address-guard.ts', 'Design 14.5'],
  ['never.secret-in-clear', 'A secret is never in a log, an error, a URL, or at rest in clear.', 'packages/service-kit/src/observe/logger.ts', 'Design 14.6'],
  ['never.logs.postgres', 'The content of records is never in the log of PostgreSQL, also not of failed, waiting or slow statements.', 'infra/postgres/roles.sql', 'Design 14.4'],
  ['never.nats', 'On NATS, a service publishes and receives only what it needs. Only sync may create or delete consumers of the log, and replies reach only the user that asked.', 'packages/contracts/src/nats-users.ts', 'Design 14.10'],
  ['never.locks', 'No role of the database but that of sync can hold up commits; the role that only reads takes no lock that services use.', 'infra/postgres/roles.sql', 'Design 14.10'],
  ['never.unbounded', 'No memory, queue, retry or wait is without bound.', 'packages/contracts/src/limits.ts', 'Design 14.7'],
  ['never.one-takes-all', 'No caller blocks the others: every scarce resource is shared by network and person, and work whose caller no longer waits is dropped.', 'packages/service-kit/src/fairness/fair-gate.ts', 'Design 14.10'],
  ['never.500-by-input', 'Input never causes a 500.', 'packages/service-kit/src/http/answer.ts', 'Design 14.8'],
  ['never.shapeless-error', 'No error is without the common shape and `Api-Version`.', 'packages/service-kit/src/http/answer.ts', 'Design 14.9'],
  ['never.one-frozen', 'Calls treat every address behind a name separately, and a hanging replica delays only a few requests.', 'packages/service-kit/src/call/addresses.ts', 'Design 14.10'],
];
