/**
 * A whole system for a test: real services as processes of their own, a real database, a real NATS server, reached
 * through the public doors. Every part can be killed, stopped, paused and cut off.
 */
import { mintInternalToken, servicePrincipal } from '@wts/access';
import type { InternalCommitReply, InternalMutation, Role } from '@wts/contracts';
import { HEADERS, syncApi, workspaceApi } from '@wts/contracts';
import type { NatsServer, PostgresServer, SupervisedService } from '@wts/local';
import { LOCAL_JWT, Stack, makeSecrets } from '@wts/local';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TestDatabase } from './database.ts';
import { openTestPostgres, testDatabase } from './database.ts';
import { testNats } from './nats.ts';
import type { Claims, Issuing } from './person.ts';
import { signToken } from './person.ts';
import { scratch } from './scratch.ts';
import type { LiveSocket, SocketOptions } from './socket.ts';
import { socketOf } from './socket.ts';
import type { Wire } from './wire.ts';
import { openWire } from './wire.ts';

export interface WorldOptions {
  readonly label?: string;
  readonly syncReplicas?: number;
  /** A PostgreSQL server of this world's own, for tests that stop or kill it. */
  readonly ownPostgres?: boolean;
  /** Settings of single services: `{ sync: { LOG_LEVEL: 'debug' } }`. */
  readonly overrides?: { readonly [service: string]: { readonly [variable: string]: string } };
  /** True: a wire stands between each process and each store, to be cut with `world.cut`. */
  readonly wires?: boolean;
}

export interface Person {
  readonly userId: string;
  /** JWT of a signed-in person. */
  readonly token: string;
  readonly name: string;
}

export type Store = 'postgres' | 'nats';

export interface World extends AsyncDisposable {
  readonly baseUrl: string;
  readonly authUrl: string;
  /** Of the demo owner. */
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
  readonly userId: string;
  readonly workspaceId: string;
  /** The identity provider of this world. */
  readonly jwt: Issuing;
  readonly internalTokenSecret: string;
  readonly database: TestDatabase;
  readonly nats: NatsServer;
  /** Only with `ownPostgres`. */
  readonly postgres: PostgresServer;
  readonly services: readonly SupervisedService[];
  readonly service: (name: string, replica?: number) => SupervisedService;
  /** Somebody who signs in with a token of their own; belongs to no workspace yet. */
  readonly person: (name: string, claims?: Claims) => Promise<Person>;
  /** Somebody who belongs to the demo workspace, or another. */
  readonly member: (name: string, role?: Role, workspaceId?: string) => Promise<Person>;
  /** A unit of changes under the authority of a service, past every permission: for arranging a test. */
  readonly commit: (mutations: readonly InternalMutation[]) => Promise<InternalCommitReply>;
  readonly socket: (options?: Partial<SocketOptions>) => Promise<LiveSocket>;
  /** The wire between a process and a store; only with `wires`. */
  readonly wire: (service: string, store: Store, replica?: number) => Wire;
  readonly untilReady: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  await using opening = new AsyncDisposableStack();
  const { label = 'world', syncReplicas = 1 } = options;
  const directory = scratch(label);
  const secrets = makeSecrets();
  const postgres = options.ownPostgres ? opening.use(await openTestPostgres(`${label}-postgres`)) : null;
  const database = opening.use(
    await testDatabase(label, { migrated: true, ...(postgres === null ? {} : { adminUrl: postgres.url() }) }),
  );
  const nats = opening.use(await testNats(`${label}-nats`, secrets.natsPassword));
  const wires = await openWires(opening, options, database, nats);
  const stack = opening.use(
    await Stack.plan({
      logs: join(directory, 'logs'),
      records: join(directory, 'run'),
      database: { name: database.name, adminUrl: database.url, urlOf: database.urlOf },
      natsUrl: nats.url,
      secrets,
      replicas: { sync: syncReplicas },
      restarts: false,
      env: process.env,
      overrides: options.overrides ?? {},
      route: (service, replica, store, url) => wires.get(`${service} ${replica} ${store}`)?.through(url) ?? url,
    }),
  );
  await stack.start();
  await stack.untilReady();
  const demo = await stack.demo();
  const issuing = { ...LOCAL_JWT, secret: secrets.jwtSecret };
  const owned = opening.move();

  const world: World = {
    baseUrl: stack.baseUrl,
    authUrl: stack.authUrl,
    ...demo,
    jwt: issuing,
    internalTokenSecret: secrets.internalTokenSecret,
    database,
    nats,
    get postgres() {
      if (postgres === null) throw new Error('this world shares its PostgreSQL server: start it with ownPostgres');
      return postgres;
    },
    services: stack.services,
    service: (name, replica) => stack.service(name, replica),
    person: async (name, claims = {}) => {
      const subject = `${name.toLowerCase().replaceAll(/\s+/g, '-')}-${randomUUID()}`;
      const full = { name, email: `${subject}@example.com`, email_verified: true, ...claims };
      const { userId } = await internal<{ userId: string }>(
        stack.service('workspace').url,
        workspaceApi.internalResolvePerson.path,
        { issuer: issuing.issuer, subject, name: full.name, email: full.email, emailVerified: full.email_verified },
        secrets.internalTokenSecret,
      );
      return { userId, name, token: signToken(issuing, subject, full) };
    },
    member: async (name, role = 'member', workspaceId = demo.workspaceId) => {
      const person = await world.person(name);
      const payload = { workspaceId, userId: person.userId, role };
      await world.commit([{ modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload }]);
      return person;
    },
    commit: (mutations) =>
      internal<InternalCommitReply>(
        stack.service('sync').url,
        syncApi.internalCommit.path,
        { clientId: 'testkit', clientTxId: randomUUID(), authority: 'service', mutations },
        secrets.internalTokenSecret,
      ),
    socket: (wishes = {}) => socketOf(stack, { token: demo.apiKey, ...wishes }),
    wire: (service, store, replica = 0) => {
      const found = wires.get(`${service} ${replica} ${store}`);
      if (found === undefined)
        throw new Error(`no wire between ${service} ${replica} and ${store}: start the world with wires`);
      return found;
    },
    untilReady: () => stack.untilReady(),
    close: () => owned.disposeAsync(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return world;
}

async function openWires(
  opening: AsyncDisposableStack,
  { wires = false, syncReplicas = 1 }: WorldOptions,
  database: TestDatabase,
  nats: NatsServer,
): Promise<ReadonlyMap<string, Wire>> {
  const opened = new Map<string, Wire>();
  if (!wires) return opened;
  const postgres = new URL(database.url);
  for (const [service, replicas] of [
    ['sync', syncReplicas],
    ['workspace', 1],
    ['gateway', 1],
  ] as const) {
    for (let replica = 0; replica < replicas; replica += 1) {
      const toPostgres = { host: postgres.hostname, port: Number(postgres.port) };
      opened.set(`${service} ${replica} postgres`, opening.use(await openWire(toPostgres)));
      opened.set(`${service} ${replica} nats`, opening.use(await openWire({ host: '127.0.0.1', port: nats.port })));
    }
  }
  return opened;
}

async function internal<T>(url: string, path: string, body: object, secret: string): Promise<T> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      [HEADERS.principal]: mintInternalToken(servicePrincipal('testkit'), secret),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
