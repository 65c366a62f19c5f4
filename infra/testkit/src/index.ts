/** PostgreSQL, NATS, whole systems, people, sockets, receivers and clocks for tests. */
export type { SupervisedProcess } from '@wts/local';

export { consentTo, type AppTokens } from './app.ts';
export { Arranger, type Person } from './arranger.ts';
export { testAuthority, type TestAuthority } from './authority.ts';
export { openBackends, type Backends } from './backends.ts';
export { openBrowser, type Page } from './browser.ts';
export { builtProgram, programOf } from './built-services.ts';
export { stoppedClock } from './clock.ts';
export { fetchPostgres, HAS_GAPS, openTestPostgres, openTestStandby, testDatabase } from './database.ts';
export type { TestDatabase } from './database.ts';
export {
  ABSENT_SERVICE,
  minterFor,
  nodeEnvironment,
  readerFor,
  serviceEnvironment,
  tokenEnvironment,
} from './environment.ts';
export { eventually } from './eventually.ts';
export { connectTo, freePort, openMailCatcher, type CaughtMail, type MailCatcher } from '@wts/local';
export { migrationsBefore } from './migrations-before.ts';
export { testNats, testNatsCluster } from './nats.ts';
export { npmPackage, type NpmPackage } from './npm-package.ts';
export { callOperation, type OperationReply, type OperationRequest } from './operation.ts';
export { openPgBouncer, type PgBouncer, type PoolMode } from './pgbouncer.ts';
export { signToken, type Issuer } from './person.ts';
export { openProxy, type Proxy } from './proxy.ts';
export { receiver, type Received, type Receiver, type ReceiverOptions } from './receiver.ts';
export { sendRequest, type Reply, type RequestContent } from './request.ts';
export { scratch } from './scratch.ts';
export { ServiceUnderTest, sessionOf, type TestPerson } from './service-under-test.ts';
export { socketOf, type LiveSocket } from './socket.ts';
export { openWire, type Wire } from './wire.ts';
export { hiddenOf, TestBrowser, type Answer } from './test-browser.ts';
export { startTestSystem, type Store, type TestSystem, type TestSystemOptions } from './test-system.ts';
