export { targetOf } from './address.ts';
export type { Address } from './address.ts';
export { Addresses, REST_MS, REST_MS_MAX, socketsOf } from './addresses.ts';
export type { AddressesOptions } from './addresses.ts';
export { openAuthenticator } from './authenticator.ts';
export { createCaller, openCaller } from './caller.ts';
export type { Caller, CallOptions } from './caller.ts';
export { Semaphore, SenderSemaphores } from './semaphore.ts';
