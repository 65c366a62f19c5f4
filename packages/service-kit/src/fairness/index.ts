export { CallerNetworks, type NetworkOf } from './caller-networks.ts';
export { CalmTimes } from './calm-times.ts';
export { Contention, SHARE, type Eligibility } from './contention.ts';
export { FairGate, retryAfterSeconds, type FairGateOptions, type FairGateWatch } from './fair-gate.ts';
export { FairQueue, type QueueEntry } from './fair-queue.ts';
export { FairQuota, tooManyAnswers, type QuotaHold } from './fair-quota.ts';
export { LoopTurns } from './loop-turns.ts';
export { mayTakeMore } from './may-take-more.ts';
