export { targetOf } from './address.ts';
export type { Address } from './address.ts';
export { Addresses, BACKOFF_MS, BACKOFF_MS_MAX, socketsOf } from './addresses.ts';
export type { AddressesOptions } from './addresses.ts';
export { openAuthenticator } from './authenticator.ts';
export { createServiceClient, openServiceClient } from './service-client.ts';
export type { ServiceClient, ServiceCallOptions } from './service-client.ts';
export { Semaphore, SenderSemaphores } from './semaphore.ts';
