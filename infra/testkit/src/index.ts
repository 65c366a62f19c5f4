/** PostgreSQL, NATS, whole systems, people, sockets, receivers and clocks for tests. */
export type { SupervisedProcess } from '@wts/local';

export { consentTo } from './app.ts';
export type { AppTokens } from './app.ts';
export { Arranger } from './arranger.ts';
export type { Person } from './arranger.ts';
export { testAuthority } from './authority.ts';
export type { TestAuthority } from './authority.ts';
export { openBackends } from './backends.ts';
export type { Backends, BackendsOptions } from './backends.ts';
export { openBrowser } from './browser.ts';
export type { Page } from './browser.ts';
export { builtProgram } from './built-services.ts';
export { stoppedClock, testClock } from './clock.ts';
export type { TestClock } from './clock.ts';
export { connectTo, fetchPostgres, HAS_GAPS, openTestPostgres, openTestStandby, testDatabase } from './database.ts';
export type { TestDatabase, TestDatabaseOptions } from './database.ts';
export {
  ABSENT_SERVICE,
  minterFor,
  nodeEnvironment,
  readerFor,
  serviceEnvironment,
  tokenEnvironment,
} from './environment.ts';
export { eventually } from './eventually.ts';
export { freePort, openMailCatcher } from '@wts/local';
export type { CaughtMail, MailCatcher } from '@wts/local';
export { migrationsBefore } from './migrations-before.ts';
export { testNats, testNatsCluster } from './nats.ts';
export { npmPackage } from './npm-package.ts';
export type { NpmPackage } from './npm-package.ts';
export { callOperation } from './operation.ts';
export type { CalledService, OperationReply, OperationRequest } from './operation.ts';
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
export { scratch } from './scratch.ts';
export { ServiceUnderTest, sessionOf } from './service-under-test.ts';
export type { TestPerson } from './service-under-test.ts';
export { socketOf } from './socket.ts';
export type { LiveSocket, ReceivedFrame, SocketOptions } from './socket.ts';
export { openWire } from './wire.ts';
export type { Wire } from './wire.ts';
export { hiddenOf, TestBrowser } from './test-browser.ts';
export type { Answer } from './test-browser.ts';
export type { TestCell } from './test-cell.ts';
export { startTestSystem } from './test-system.ts';
export type { Store, TestSystem, TestSystemOptions } from './test-system.ts';
