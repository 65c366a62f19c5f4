/** PostgreSQL, NATS, whole systems, people, sockets, receivers and clocks for tests. */
export type { SupervisedProcess } from '@wts/local';

export { testAuthority } from './authority.ts';
export type { TestAuthority } from './authority.ts';
export { openBrowser } from './browser.ts';
export type { Page } from './browser.ts';
export { testClock } from './clock.ts';
export type { TestClock } from './clock.ts';
export { fetchPostgres, openTestPostgres, openTestStandby, testDatabase } from './database.ts';
export type { TestDatabase, TestDatabaseOptions } from './database.ts';
export { eventually } from './eventually.ts';
export { testNats } from './nats.ts';
export { openPgBouncer } from './pgbouncer.ts';
export type { PgBouncer, PoolMode } from './pgbouncer.ts';
export { signToken } from './person.ts';
export type { Issuer, TokenClaims } from './person.ts';
export { openProxy } from './proxy.ts';
export type { Proxy } from './proxy.ts';
export { receiver } from './receiver.ts';
export type { Received, Receiver, ReceiverOptions, ReceiverReply } from './receiver.ts';
export { sendRequest } from './request.ts';
export type { Reply, RequestContent, RequestTarget } from './request.ts';
export { socketOf } from './socket.ts';
export type { LiveSocket, ReceivedFrame, SocketOptions } from './socket.ts';
export { openWire } from './wire.ts';
export type { Wire } from './wire.ts';
export { startTestSystem } from './test-system.ts';
export type { Person, Store, TestSystem, TestSystemOptions } from './test-system.ts';
