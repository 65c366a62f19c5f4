export { createApp, notFoundAndErrors } from './app.ts';
export type { Call } from './call.ts';
export { idempotency, newIds } from './idempotency.ts';
export type { Claim, EffectSource, Idempotency, IdempotencyStore, StoredReply } from './idempotency.ts';
export { mount, mountStream } from './mount.ts';
export { readInternalCall } from './who-calls.ts';
export type { CallReader } from './who-calls.ts';
export { compile } from './validate.ts';
export type { Validate } from './validate.ts';
