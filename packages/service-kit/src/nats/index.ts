export { onRevocation, revocationSender } from './revocations.ts';
export type { RevocationSender } from './revocations.ts';
export { natsConnectionOptions, openNats, subscribe } from './nats.ts';
export type { Nats } from './nats.ts';
