export { createApp, notFoundAndErrors } from './app.ts';
export { signalOf, type Call } from './call.ts';
export { idempotency, newIds, type EffectSource, type Idempotency } from './idempotency.ts';
export { mount, mountStream, type Authenticate, type Frozen } from './mount.ts';
export { pageSizeOf, readPage } from './page.ts';
export { readInternalCall, type CallReader } from './who-calls.ts';
export { compile, type Validate } from './validate.ts';
