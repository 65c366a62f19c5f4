export { auditListeners, auditReplica, expectedIds } from './audit-live.ts';
export { auditLog } from './audit-log.ts';
export type { LogAudit } from './audit-log.ts';
export { auditStream } from './audit-stream.ts';
export { applyActions, compareDeliveries } from './compare.ts';
export type { Replica } from './compare.ts';
export type { Finding } from './finding.ts';
export { listenByPolling, listenBySocket, readPage } from './listeners.ts';
export type { Listener, Target } from './listeners.ts';
