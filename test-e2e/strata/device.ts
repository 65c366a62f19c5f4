/** A device of a person: the unmodified client from npm with its browser storage, connected to our gateway. */
import 'fake-indexeddb/auto';
import { createSyncClient, type SyncClient, type SyncClientEvent } from '@stratasync/client';
import type { SyncAction } from '@stratasync/core';
import { createMobXReactivity } from '@stratasync/mobx';
import { createIndexedDbStorage } from '@stratasync/storage-idb';
import { createGraphQLTransport, type GraphQLMutationBuilder } from '@stratasync/transport-graphql';
import { eventually, openWire, type Wire } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { SCHEMA } from './models.ts';

export type StrataRow = Record<string, unknown>;

interface Store {
  loadByIndex(model: string, index: string, key: string): Promise<StrataRow[]>;
}

interface DeviceOptions {
  /** Sends changes as GraphQL instead of to `/sync/mutate`. */
  readonly mutationBuilder?: GraphQLMutationBuilder;
}

/** Shorter retries than the default, so that tests are fast. */
const RETRY = { maxRetries: 3, baseDelay: 50, maxDelay: 200 };

export class Device implements AsyncDisposable {
  client: SyncClient;
  readonly events: SyncClientEvent[] = [];
  /** The requests of this device, such as `GET /sync/bootstrap`. */
  readonly requests: string[] = [];
  readonly queries: URLSearchParams[] = [];
  readonly #database = `device-${randomUUID()}`;
  readonly #token: string;
  readonly #wire: Wire;
  readonly #baseUrl: string;
  readonly #onRequest: (message: unknown) => void;
  readonly #options: DeviceOptions;
  #storage = createIndexedDbStorage();
  #store: Store | null = null;

  private constructor(baseUrl: string, token: string, wire: Wire, options: DeviceOptions) {
    this.#options = options;
    this.#token = token;
    this.#wire = wire;
    this.#baseUrl = wire.through(baseUrl).replace(/\/$/, '');
    this.client = this.#install();
    this.#onRequest = (message) => {
      const { request } = message as { request: { origin: unknown; method: string; path: string } };
      if (String(request.origin) !== this.#baseUrl) return;
      const { pathname, searchParams } = new URL(request.path, this.#baseUrl);
      this.requests.push(`${request.method} ${pathname}`);
      this.queries.push(searchParams);
    };
    subscribe('undici:request:create', this.#onRequest);
  }

  /** Opens a new device without data. Resolves when it has loaded everything and is connected. */
  static async open(
    testSystem: { readonly baseUrl: string },
    token: string,
    options: DeviceOptions = {},
  ): Promise<Device> {
    const { hostname, port } = new URL(testSystem.baseUrl);
    await using opening = new AsyncDisposableStack();
    const wire = await openWire({ host: hostname, port: Number(port) });
    const device = opening.use(new Device(testSystem.baseUrl, token, wire, options));
    await device.start();
    opening.move();
    return device;
  }

  async start(): Promise<void> {
    await this.client.start();
    await this.untilLive();
  }

  /** Closes the application. Its local database remains. */
  stop(): Promise<void> {
    return this.client.stop();
  }

  /** Opens the application again with its local database. */
  async reopen(): Promise<void> {
    this.#storage = createIndexedDbStorage();
    this.requests.length = 0;
    this.queries.length = 0;
    this.client = this.#install();
    await this.start();
  }

  goOffline(): void {
    this.#wire.cut();
  }

  goOnline(): void {
    this.#wire.mend();
  }

  async untilLive(): Promise<void> {
    await eventually(() => this.client.connectionState === 'connected' && this.client.state === 'syncing', {
      deadlineMs: 60_000,
    });
  }

  /** The object in memory, which the application shows. */
  shows(model: string, id: string): StrataRow | null {
    return this.client.getCached<StrataRow>(model, id);
  }

  untilShows(model: string, id: string, wanted: StrataRow = {}): Promise<StrataRow> {
    return eventually(() => {
      const row = this.shows(model, id);
      if (row === null) throw new Error(`${model} ${id} is missing`);
      for (const [field, value] of Object.entries(wanted)) {
        if (row[field] !== value) throw new Error(`${field} is ${String(row[field])}, not ${String(value)}`);
      }
      return row;
    });
  }

  async untilGone(model: string, id: string): Promise<void> {
    await eventually(async () => this.shows(model, id) === null && (await this.stored(model, id)) === null);
  }

  /**
   * Waits until the server has confirmed all changes, and the client sends none any more. A change that loses to one of another device,
   * which the client receives while it sends its own, is not pending any more, but the server still gets it: then the client shows the
   * other one until its next start, and stores its own, which is the last one of the log. `syncNow` waits for what is being sent.
   */
  async untilSettled(): Promise<void> {
    await eventually(async () => (await this.client.getPendingCount()) === 0);
    await eventually(() => this.client.syncNow().then(() => true));
  }

  /** Offline: waits until all attempts have failed and the changes wait for the next connection. */
  async untilGivenUp(): Promise<void> {
    await eventually(async () =>
      (await this.#storage.getOutbox()).every(({ state, retryCount }) => state === 'queued' && retryCount > 0),
    );
  }

  /** The record in the local database, with which the next start begins. */
  stored(model: string, id: string): Promise<StrataRow | null> {
    return this.#storage.get<StrataRow>(model, id);
  }

  /** Every action that this device received, in order. */
  received(): Promise<SyncAction[]> {
    return this.#storage.getSyncActions('0', 100_000);
  }

  /** Loads the children of a record, as a view of an application does. */
  loadByIndex(model: string, index: string, key: string): Promise<StrataRow[]> {
    if (this.#store === null) throw new Error('the client did not create a store');
    return this.#store.loadByIndex(model, index, key);
  }

  /** Sets the cursor, to simulate a restored backup of the server. The application must be closed. */
  async setCursor(lastSyncId: string): Promise<void> {
    const storage = createIndexedDbStorage();
    await storage.open({ name: this.#database, schema: SCHEMA });
    await storage.setMeta({ lastSyncId });
    await storage.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    unsubscribe('undici:request:create', this.#onRequest);
    this.#wire.mend();
    await this.client.stop();
    await this.#wire[Symbol.asyncDispose]();
  }

  #install(): SyncClient {
    const client = createSyncClient({
      storage: this.#storage,
      reactivity: createMobXReactivity(),
      schema: SCHEMA,
      dbName: this.#database,
      transport: createGraphQLTransport({
        endpoint: `${this.#baseUrl}/graphql`,
        syncEndpoint: `${this.#baseUrl}/sync`,
        wsEndpoint: `${this.#baseUrl.replace(/^http/, 'ws')}/sync/ws`,
        auth: { getAccessToken: () => Promise.resolve(this.#token) },
        retry: RETRY,
        ...this.#options,
      }),
      modelFactory: ({ store }: { store: unknown }) => {
        this.#store = store as Store;
        return (_model: string, data: StrataRow) => ({ ...data });
      },
    });
    client.onEvent((event) => this.events.push(event));
    return client;
  }
}
