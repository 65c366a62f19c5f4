export { onRevocation, revocationSender, type RevocationSender } from './revocations.ts';
export { natsConnectionOptions, openNats, subscribe, type Nats } from './nats.ts';
