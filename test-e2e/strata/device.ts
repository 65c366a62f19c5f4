/**
 * A device of a person: the published client of npm, as it is, with the storage it keeps in a browser, talking to our
 * gateway. Nothing but configuration stands between the two.
 */
import 'fake-indexeddb/auto';
import type { SyncClient, SyncClientEvent } from '@stratasync/client';
import { createSyncClient } from '@stratasync/client';
import type { SyncAction } from '@stratasync/core';
import { createMobXReactivity } from '@stratasync/mobx';
import { createIndexedDbStorage } from '@stratasync/storage-idb';
import { createGraphQLTransport } from '@stratasync/transport-graphql';
import type { Wire } from '@wts/testkit';
import { eventually, openWire } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { SCHEMA } from './models.ts';

export type Row = Record<string, unknown>;

interface Store {
  loadByIndex(model: string, index: string, key: string): Promise<Row[]>;
}

/** Tries again quickly: a test should not wait for the patience of a phone. */
const RETRY = { maxRetries: 3, baseDelay: 50, maxDelay: 200 };

export class Device implements AsyncDisposable {
  client: SyncClient;
  readonly events: SyncClientEvent[] = [];
  /** Requests this device made: `GET /sync/bootstrap`. */
  readonly requests: string[] = [];
  readonly queries: URLSearchParams[] = [];
  readonly #database = `device-${randomUUID()}`;
  readonly #token: string;
  readonly #wire: Wire;
  readonly #baseUrl: string;
  readonly #hear: (message: unknown) => void;
  #storage = createIndexedDbStorage();
  #store: Store | null = null;

  private constructor(baseUrl: string, token: string, wire: Wire) {
    this.#token = token;
    this.#wire = wire;
    this.#baseUrl = wire.through(baseUrl).replace(/\/$/, '');
    this.client = this.#install();
    this.#hear = (message) => {
      const { request } = message as { request: { origin: unknown; method: string; path: string } };
      if (String(request.origin) !== this.#baseUrl) return;
      const { pathname, searchParams } = new URL(request.path, this.#baseUrl);
      this.requests.push(`${request.method} ${pathname}`);
      this.queries.push(searchParams);
    };
    subscribe('undici:request:create', this.#hear);
  }

  /** A new device: nothing is on it yet. Resolves when it has loaded everything and hears what is new. */
  static async open(testSystem: { readonly baseUrl: string }, token: string): Promise<Device> {
    const { hostname, port } = new URL(testSystem.baseUrl);
    await using opening = new AsyncDisposableStack();
    const wire = await openWire({ host: hostname, port: Number(port) });
    const device = opening.use(new Device(testSystem.baseUrl, token, wire));
    await device.start();
    opening.move();
    return device;
  }

  async start(): Promise<void> {
    await this.client.start();
    await this.untilLive();
  }

  /** The application is closed; what it stored stays. */
  stop(): Promise<void> {
    return this.client.stop();
  }

  /** The application is opened again, with what it stored. */
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
      deadlineMs: 15_000,
    });
  }

  /** What the application shows: the object in memory. */
  shows(model: string, id: string): Row | null {
    return this.client.getCached<Row>(model, id);
  }

  untilShows(model: string, id: string, wanted: Row = {}): Promise<Row> {
    return eventually(
      () => {
        const row = this.shows(model, id);
        if (row === null) throw new Error(`${model} ${id} is not there`);
        for (const [field, value] of Object.entries(wanted)) {
          if (row[field] !== value) throw new Error(`${field} is ${String(row[field])}, not ${String(value)}`);
        }
        return row;
      },
      { deadlineMs: 15_000 },
    );
  }

  async untilGone(model: string, id: string): Promise<void> {
    await eventually(async () => this.shows(model, id) === null && (await this.stored(model, id)) === null);
  }

  /** All changes are taken and have come back. */
  async untilSettled(): Promise<void> {
    await eventually(async () => (await this.client.getPendingCount()) === 0, { deadlineMs: 15_000 });
  }

  /** Offline: the changes made so far were tried in vain and wait for the next connection. */
  async untilGivenUp(): Promise<void> {
    await eventually(async () =>
      (await this.#storage.getOutbox()).every(({ state, retryCount }) => state === 'queued' && retryCount > 0),
    );
  }

  /** What lies in the local database, which is what the next start begins with. */
  stored(model: string, id: string): Promise<Row | null> {
    return this.#storage.get<Row>(model, id);
  }

  /** Every action this device was sent, in the order it came. */
  heard(): Promise<SyncAction[]> {
    return this.#storage.getSyncActions('0', 100_000);
  }

  /** As a view of the application does that wants the children of a record. */
  loadByIndex(model: string, index: string, key: string): Promise<Row[]> {
    if (this.#store === null) throw new Error('the client made no store');
    return this.#store.loadByIndex(model, index, key);
  }

  /** Puts the cursor elsewhere, as a restored backup of the server would. The application must be closed. */
  async misplaceCursor(lastSyncId: string): Promise<void> {
    const storage = createIndexedDbStorage();
    await storage.open({ name: this.#database, schema: SCHEMA });
    await storage.setMeta({ lastSyncId });
    await storage.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    unsubscribe('undici:request:create', this.#hear);
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
      }),
      modelFactory: ({ store }: { store: unknown }) => {
        this.#store = store as Store;
        return (_model: string, data: Row) => ({ ...data });
      },
    });
    client.onEvent((event) => this.events.push(event));
    return client;
  }
}
