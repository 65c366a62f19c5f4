/** How tests get PostgreSQL, NATS, whole worlds, people, sockets, receivers and time. */
export type { SupervisedService } from '@wts/local';
export { testClock } from './clock.ts';
export type { TestClock } from './clock.ts';
export { openTestPostgres, testDatabase } from './database.ts';
export type { TestDatabase, TestDatabaseOptions } from './database.ts';
export { eventually } from './eventually.ts';
export { testNats } from './nats.ts';
export { signToken } from './person.ts';
export type { Claims, Issuing } from './person.ts';
export { receiver } from './receiver.ts';
export type { Answer, Received, Receiver } from './receiver.ts';
export { socketOf } from './socket.ts';
export type { LiveSocket, ServerFrame, SocketOptions } from './socket.ts';
export { openWire } from './wire.ts';
export type { Wire } from './wire.ts';
export { startWorld } from './world.ts';
export type { Person, Store, World, WorldOptions } from './world.ts';
