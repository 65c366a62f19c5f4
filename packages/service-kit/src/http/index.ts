export { acceptsGzip } from './accept-encoding.ts';
export { requestIdOf } from './exchange.ts';
export type { BodyTurns, HttpOptions } from './exchange.ts';
export { readBytes } from './read-json.ts';
export type { Connections } from './connections.ts';
export { closeNow, createHttpServer, drainServer, listen, onUpgrade, refuseUpgrade } from './server.ts';
export { originForm } from './target.ts';
