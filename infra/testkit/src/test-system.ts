/**
 * A whole system for a test: every service as its own process, a real database and a real NATS server, used through the
 * public API. A test can kill, stop, pause and disconnect every part.
 */
import type { MintToken } from '@wts/access';
import type {
  InternalCommitReply,
  InternalMutation,
  MutateReply,
  NewApiKey,
  Principal,
  Role,
  ServiceName,
} from '@wts/contracts';
import { apiKeyApi } from '@wts/contracts';
import type { DemoWorkspace, NatsServer, PostgresServer, Secrets, SupervisedProcess } from '@wts/local';
import { LOCAL_JWT, SERVICES, Stack, makeSecrets, runScript } from '@wts/local';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { Arranger, type Person } from './arranger.ts';
import { allowApp, revokeApps, type AppTokens } from './app.ts';
import { NODE_OPTIONS, programOf } from './built-services.ts';
import { demoOf, openTestPostgres, openTestStandby, testDatabase, type TestDatabase } from './database.ts';
import { CHEAP_PASSWORDS, minterFor, nodeEnvironment } from './environment.ts';
import { testNats } from './nats.ts';
import type { Issuer, TokenClaims } from './person.ts';
import { sendRequest, type Reply, type RequestContent } from './request.ts';
import { scratch } from './scratch.ts';
import { socketOf, type LiveSocket, type SocketOptions } from './socket.ts';
import { planCell, type TestCell } from './test-cell.ts';
import { openWire, type Wire } from './wire.ts';
import { openAbsentService } from './absent-service.ts';

export interface TestSystemOptions {
  readonly label?: string;
  /** Those with more than one. The first gateway is at `baseUrl`, the others are at `service('gateway', 1).url` and so on. */
  readonly replicas?: Replicas;
  /**
   * Of the services that the gateway can do without, only these run, which is faster. Default: all. A call of another one makes
   * `close()` reject.
   */
  readonly services?: readonly OptionalService[];
  /** True: a separate PostgreSQL server, for tests that stop or kill it. */
  readonly ownPostgres?: boolean;
  /** True: a separate PostgreSQL server, and a streaming standby of it that the graph service reads. */
  readonly standby?: boolean;
  /** Settings of services: `{ sync: { LOG_LEVEL: 'debug' } }`. */
  readonly overrides?: { readonly [service: string]: { readonly [variable: string]: string } };
  /** As in the plan of the stack. */
  readonly issuers?: readonly object[];
  readonly authHost?: 'localhost';
  /** True: a second cell, whose services are those of the first one; see `TestSystem.secondCell`. */
  readonly secondCell?: boolean;
  /** True: a wire between each process and each store; see `TestSystem.wire`. */
  readonly wires?: boolean;
}

type Replicas = { readonly [service in ServiceName]?: number };

/** A gateway is ready without these. */
const OPTIONAL = ['webhook-dispatcher', 'graph', 'agent'] as const;
export type OptionalService = (typeof OPTIONAL)[number];

export type Store = 'postgres' | 'nats';

/** What a client sends to change a record. */
interface TestChange {
  readonly modelName: string;
  readonly modelId?: string;
  readonly action?: string;
  readonly payload?: object;
  readonly clientTxId?: string;
}

type Mutated = MutateReply['results'][0] & {
  readonly modelId: string;
  readonly record: Readonly<Record<string, unknown>> | undefined;
  readonly text: string;
};

interface Parts {
  readonly stack: Stack;
  readonly database: TestDatabase;
  readonly nats: NatsServer;
  readonly postgres: PostgresServer | null;
  readonly standby: PostgresServer | null;
  readonly wires: ReadonlyMap<string, Wire>;
  readonly jwt: Issuer;
  readonly secrets: Secrets;
  readonly cell: TestCell | null;
}

export async function startTestSystem(options: TestSystemOptions = {}): Promise<TestSystem> {
  // Closes the parts that are open when a later one fails.
  await using opening = new AsyncDisposableStack();
  const { label = 'testSystem', services = OPTIONAL, replicas = {} } = options;
  const elsewhere = new Map<string, string>();
  for (const name of OPTIONAL.filter((one) => !services.includes(one)))
    elsewhere.set(name, opening.use(await openAbsentService(name)).url);
  const directory = scratch(label);
  const secrets = makeSecrets();
  const hasOwn = options.ownPostgres === true || options.standby === true;
  // A standby follows without a slot, also after a crash of the primary.
  const settings = { wal_keep_size: '64MB' };
  const postgres = hasOwn ? opening.use(await openTestPostgres(`${label}-postgres`, { settings })) : null;
  const database = opening.use(
    await testDatabase(label, { seeded: true, ...(postgres === null ? {} : { adminUrl: postgres.url() }) }),
  );
  const standby =
    postgres !== null && options.standby ? opening.use(await openTestStandby(postgres, `${label}-standby`)) : null;
  const nats = opening.use(await testNats(`${label}-nats`, secrets.natsPassword));
  const wires = options.wires ? await openWires(opening, replicas, database, nats) : new Map<string, Wire>();
  const plan = {
    logs: join(directory, 'logs'),
    records: join(directory, 'run'),
    secrets,
    replicas: { ...replicas, ...Object.fromEntries(elsewhere.keys().map((name) => [name, 0])) },
    elsewhere,
    issuers: options.issuers ?? [],
    ...(options.authHost === undefined ? {} : { authHost: options.authHost }),
    restarts: false,
    programOf,
    nodeOptions: NODE_OPTIONS,
    // Services check every response against its contract.
    env: { CHECK_REPLIES: 'on', ...CHEAP_PASSWORDS, ...process.env },
    overrides: standby === null ? (options.overrides ?? {}) : withReplica(options, database, standby),
  };
  const stack = opening.use(
    await Stack.plan({
      ...plan,
      database: { ...database, adminUrl: database.url, authAdminUrl: database.authUrl },
      natsUrlOf: nats.urlOf,
      route: (service, replica, store, url) => wires.get(`${service} ${replica} ${store}`)?.through(url) ?? url,
    }),
  );
  const cell = options.secondCell ? await planCell(opening, { label, first: stack, plan }) : null;
  const stacks = [stack, ...(cell === null ? [] : [cell.stack])];
  for (const one of stacks) await one.start();
  for (const one of stacks) await one.untilReady();
  const jwt = { ...LOCAL_JWT, secret: secrets.jwtSecret };
  const parts = { stack, database, nats, postgres, standby, wires, jwt, secrets, cell };
  return new TestSystem(parts, await demoOf(database), opening.move());
}

/** The roles of the standby are those of its primary. */
function withReplica(
  { overrides = {} }: TestSystemOptions,
  database: TestDatabase,
  standby: PostgresServer,
): NonNullable<TestSystemOptions['overrides']> {
  const { href } = Object.assign(new URL(database.urlOf('wts_graph')), { port: String(standby.port) });
  return { ...overrides, graph: { DATABASE_REPLICA_URL: href, ...overrides['graph'] } };
}

export class TestSystem implements AsyncDisposable {
  readonly baseUrl: string;
  readonly authUrl: string;
  /** A key of the owner of the demo workspace. */
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
  readonly userId: string;
  readonly workspaceId: string;
  /** With which the demo owner signs in at `authUrl`. */
  readonly account: { readonly email: string; readonly password: string };
  /** The identity provider of this system: `signToken(testSystem.jwt, subject, claims)`. */
  readonly jwt: Issuer;
  readonly database: TestDatabase;
  readonly nats: NatsServer;
  readonly secrets: Secrets;
  readonly services: readonly SupervisedProcess[];
  readonly #parts: Parts;
  readonly #arranger: Arranger;
  readonly #owned: AsyncDisposableStack;
  #operatorToken: Promise<string> | undefined;

  constructor(parts: Parts, demo: DemoWorkspace, owned: AsyncDisposableStack) {
    this.baseUrl = parts.stack.baseUrl;
    this.authUrl = parts.stack.authUrl;
    this.apiKey = demo.apiKey;
    this.readOnlyApiKey = demo.readOnlyApiKey;
    this.userId = demo.userId;
    this.workspaceId = demo.workspaceId;
    this.account = demo.person;
    this.jwt = parts.jwt;
    this.database = parts.database;
    this.nats = parts.nats;
    this.secrets = parts.secrets;
    this.services = parts.stack.services;
    this.#parts = parts;
    this.#owned = owned;
    const urlOf = (service: ServiceName): string => this.service(service).url;
    this.#arranger = new Arranger({ urlOf, secrets: parts.secrets, jwt: parts.jwt });
  }

  /** Connects as superuser to the standby; only with `standby`. */
  get standbyUrl(): string {
    const { standby, database } = this.#parts;
    if (standby !== null) return standby.url(database.name);
    throw new Error('this system has no standby; start it with standby');
  }

  /** Only with `ownPostgres`. */
  get postgres(): PostgresServer {
    if (this.#parts.postgres !== null) return this.#parts.postgres;
    throw new Error('this system shares its PostgreSQL server; start it with ownPostgres');
  }

  /** Only with `secondCell`. */
  get secondCell(): TestCell {
    if (this.#parts.cell !== null) return this.#parts.cell;
    throw new Error('this system has one cell; start it with secondCell');
  }

  service(name: string, replica = 0): SupervisedProcess {
    return this.#parts.stack.service(name, replica);
  }

  /** The wire between a process and a store; only with `wires`. */
  wire(service: string, store: Store, replica = 0): Wire {
    const found = this.#parts.wires.get(`${service} ${replica} ${store}`);
    if (found !== undefined) return found;
    throw new Error(`no wire between ${service} ${replica} and ${store}; start the system with wires`);
  }

  /** A token of the operator of this system. */
  operatorToken(): Promise<string> {
    const env = { ...nodeEnvironment(), DATABASE_URL: this.database.urlOf('wts_auth') };
    this.#operatorToken ??= runScript('auth', 'operator', env, ['token', 'create', 'test']);
    return this.#operatorToken.then((token) => token.trim());
  }

  /** Creates a person who signs in with a token and is in no workspace yet. */
  person(name: string, claims: TokenClaims = {}): Promise<Person> {
    return this.#arranger.person(name, claims);
  }

  /** Creates a person who is a member of the demo workspace, or of another one. */
  member(name: string, role: Role = 'member', workspaceId = this.workspaceId): Promise<Person> {
    return this.#arranger.member(name, role, workspaceId);
  }

  /** Creates an API key of a person, also of the kinds that REST cannot create. */
  async keyOf(
    { userId }: Pick<Person, 'userId'>,
    key: Omit<NewApiKey, 'label'>,
  ): Promise<{ id: string; token: string }> {
    const credential = { kind: 'service', id: 'testkit' } as const;
    const principal: Principal = { userId, scopes: ['read', 'write', 'admin'], credential };
    const { path } = apiKeyApi.internalCreateApiKey;
    const reply = await this.#arranger.call<{ key: { id: string; token: string } }>(
      { from: 'graph', to: 'auth' },
      path,
      { label: 'testkit', ...key },
      principal,
    );
    return reply.key;
  }

  /** Tokens of an app that the person allows to `read`, or to `read write`. */
  appOf({ userId }: Pick<Person, 'userId'>, scope: string, resource?: string): Promise<AppTokens> {
    return allowApp({ authUrl: this.authUrl, databaseUrl: this.database.authUrl }, { userId, scope, resource });
  }

  /** The person stops the access of all apps, on their account page. */
  async revokeApps({ userId }: Pick<Person, 'userId'> = this): Promise<void> {
    await revokeApps({ authUrl: this.authUrl, databaseUrl: this.database.authUrl }, userId);
  }

  /** Commits changes as a service, without permission checks, to arrange a test. */
  commit(mutations: readonly InternalMutation[]): Promise<InternalCommitReply> {
    return this.#arranger.commit(mutations);
  }

  /** Creates a record by such a commit. Resolves to its id. */
  async put(modelName: string, payload: object, modelId: string = randomUUID()): Promise<string> {
    await this.commit([{ modelName, modelId, action: 'INSERT', payload: { ...payload } }]);
    return modelId;
  }

  /** Creates a workspace of the person with this token. */
  async workspaceOf({ token }: Pick<Person, 'token'>, name = 'Own'): Promise<{ id: string; urlKey: string }> {
    const body = { name, urlKey: `w-${randomUUID().slice(0, 18)}` };
    const { status, text } = await this.request(token, 'POST', '/api/workspaces', { body });
    if (status !== 201) throw new Error(text);
    return (JSON.parse(text) as { workspace: { id: string; urlKey: string } }).workspace;
  }

  /** Sends one change, by default an INSERT of a new record. Resolves to its result, with the record and the whole text. */
  async mutate(token: string, change: TestChange, headers: Readonly<Record<string, string>> = {}): Promise<Mutated> {
    const transaction = { clientTxId: randomUUID(), clientId: 'test', modelId: randomUUID(), action: 'INSERT' };
    const body = { batchId: randomUUID(), transactions: [{ ...transaction, payload: {}, ...change }] };
    const { status, text } = await this.request(token, 'POST', '/sync/mutate', { body, headers });
    if (status !== 200) throw new Error(text);
    const { results, mutations } = JSON.parse(text) as MutateReply;
    const [result] = results;
    if (result === undefined) throw new Error(text);
    return { ...result, modelId: body.transactions[0]?.modelId ?? '', record: mutations[0]?.record, text };
  }

  /** Sends a request to the first gateway. */
  request(token: string | null, method: string, path: string, content?: RequestContent): Promise<Reply> {
    return sendRequest({ baseUrl: this.baseUrl, token }, method, path, content);
  }

  /** Opens a socket as the demo owner, or with another token. */
  socket(options: Partial<SocketOptions> = {}): Promise<LiveSocket> {
    return socketOf(this, { token: this.apiKey, ...options });
  }

  untilReady(): Promise<void> {
    return this.#parts.stack.untilReady();
  }

  close(): Promise<void> {
    return this.#owned.disposeAsync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Mints tokens as the service `from` of this system does when it calls `to`. */
  minterFor(from: ServiceName, to: ServiceName): MintToken {
    return minterFor(from, to, this.#parts.secrets);
  }
}

async function openWires(
  opening: AsyncDisposableStack,
  replicas: Replicas,
  database: TestDatabase,
  nats: NatsServer,
): Promise<ReadonlyMap<string, Wire>> {
  const opened = new Map<string, Wire>();
  const { hostname, port } = new URL(database.url);
  for (const { name } of SERVICES) {
    for (let replica = 0; replica < (replicas[name] ?? 1); replica += 1) {
      opened.set(`${name} ${replica} postgres`, opening.use(await openWire({ host: hostname, port: Number(port) })));
      opened.set(`${name} ${replica} nats`, opening.use(await openWire({ host: '127.0.0.1', port: nats.port })));
    }
  }
  return opened;
}
