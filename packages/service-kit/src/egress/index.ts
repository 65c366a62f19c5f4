export { addressGuard, refuseRange, type AddressGuard } from './address-guard.ts';
export { openConnector, type Connect, type ConnectOptions, type ConnectProgress, type Phase } from './connect.ts';
export { EgressFailure, isReset, reasonOf, type EgressError } from './failure.ts';
export { openGuardedRequests, undiciConnector, type SendGuarded } from './guarded-request.ts';
export type { EgressMetrics } from './metrics.ts';
export { openResolver, refuseDnsServer, type AddressResolver } from './resolver.ts';
export { NOT_PUBLIC, parseTarget, type Target } from './target.ts';
