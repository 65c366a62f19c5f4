export { CallerNetworks } from './caller-networks.ts';
export type { NetworkOf } from './caller-networks.ts';
export { Contention, SHARE } from './contention.ts';
export { FairGate, retryAfterSeconds } from './fair-gate.ts';
export type { FairGateOptions, FairGateWatch } from './fair-gate.ts';
export { FairQueue } from './fair-queue.ts';
export type { QueueEntry } from './fair-queue.ts';
export { FairQuota } from './fair-quota.ts';
export type { QuotaHold } from './fair-quota.ts';
