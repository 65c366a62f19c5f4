import type { Rows } from './rule.ts';

/** `Idempotency-Key` on POST: design 5. */
// prettier-ignore
export const idempotency: Rows = [
  ['idempotency.replay', 'The same request with the same `Idempotency-Key` within 24 hours is given the first answer again, with `Idempotency-Replayed: true`, and has no second effect.', 'packages/service-kit/src/routes/idempotency.ts', 'Design 5'],
  ['idempotency.mismatch', 'The same `Idempotency-Key` with another request is 422.', 'packages/service-kit/src/routes/idempotency.ts', 'Design 5'],
  ['idempotency.in-flight', 'While the first request with an `Idempotency-Key` runs, a second is 409; a key whose request died with its process is free again.', 'packages/service-kit/src/routes/idempotency.ts', 'Design 5'],
  ['idempotency.retryable', 'What may succeed later (401, 429, 5xx) is not kept for an `Idempotency-Key`.', 'packages/service-kit/src/routes/idempotency.ts', 'Design 5'],
  ['idempotency.secrets', 'Stored replies never contain in clear a secret that is shown once.', 'packages/service-kit/src/routes/idempotency.ts', 'Design 5'],
  ['idempotency.rotation', 'While one REPLAY_SECRET replaces another, replies stored under either are found. Secrets that can be guessed are refused at the start.', 'packages/service-kit/src/routes/idempotency.ts', 'Design 5'],
  ['idempotency.scope', 'An `Idempotency-Key` belongs to one credential and one operation; no other caller gets its reply.', 'packages/service-kit/src/routes/idempotency.ts', 'Design 5'],
];
