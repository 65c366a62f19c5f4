export { onRevocation } from './revocations.ts';
export { natsAddresses, openNats, subscribe } from './nats.ts';
export type { Nats } from './nats.ts';
