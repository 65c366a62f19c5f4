export { targetOf, type Address } from './address.ts';
export { Addresses, BACKOFF_MS, BACKOFF_MS_MAX, socketsOf, type AddressesOptions } from './addresses.ts';
export { callMetrics, type CallOutcome } from './metrics.ts';
export { openAuthenticator } from './authenticator.ts';
export { commitUnitSender, type CommitUnit, type CommitUnitSender } from './commit-unit.ts';
export { createServiceClient, openServiceClient } from './service-client.ts';
export type { ServiceClient, ServiceCallOptions } from './service-client.ts';
export { Semaphore, SenderSemaphores } from './semaphore.ts';
