import type { Rule } from './rule.ts';

/** `Idempotency-Key` on POST: design 5. */
export const idempotency: readonly Rule[] = [
  {
    id: 'idempotency.replay',
    source: 'Design 5',
    text: 'The same request with the same `Idempotency-Key` within 24 hours is given the first answer again, with `Idempotency-Replayed: true`, and has no second effect.',
    home: 'packages/service-kit/src/routes/idempotency.ts',
  },
  {
    id: 'idempotency.mismatch',
    source: 'Design 5',
    text: 'The same `Idempotency-Key` with another request is 422.',
    home: 'packages/service-kit/src/routes/idempotency.ts',
  },
  {
    id: 'idempotency.in-flight',
    source: 'Design 5',
    text: 'While the first request with an `Idempotency-Key` runs, a second is 409; a key whose request died with its process is free again.',
    home: 'packages/service-kit/src/routes/idempotency.ts',
  },
  {
    id: 'idempotency.retryable',
    source: 'Design 5',
    text: 'What may succeed later (401, 429, 5xx) is not kept for an `Idempotency-Key`.',
    home: 'packages/service-kit/src/routes/idempotency.ts',
  },
  {
    id: 'idempotency.secrets',
    source: 'Design 5',
    text: 'Stored replies never contain in clear a secret that is shown once.',
    home: 'packages/service-kit/src/routes/idempotency.ts',
  },
  {
    id: 'idempotency.rotation',
    source: 'Design 5',
    text: 'While one REPLAY_SECRET replaces another, replies stored under either are found. Secrets that can be guessed are refused at the start.',
    home: 'packages/service-kit/src/routes/idempotency.ts',
  },
  {
    id: 'idempotency.scope',
    source: 'Design 5',
    text: 'An `Idempotency-Key` belongs to one credential and one operation; no other caller gets its reply.',
    home: 'packages/service-kit/src/routes/idempotency.ts',
  },
];
