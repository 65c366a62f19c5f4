/**
 * The services as one thing: wired to each other, to their database and to NATS, started in order and stopped in
 * reverse. `npm start` has one of it, every test system has one.
 */
import type { NatsUser } from '@wts/contracts';
import { join } from 'node:path';
import type { Database } from './database/provision.ts';
import { picked, runScript } from './database/migrate.ts';
import { ROOT, serviceFile } from './layout.ts';
import { launch } from './processes/launch.ts';
import { freePort } from './processes/ports.ts';
import { SupervisedProcess } from './processes/supervised.ts';
import { Refusal } from './refusal.ts';
import type { Demo, Secrets } from './secrets.ts';
import type { CrashListeners } from './servers/server-control.ts';
import type { ServiceSpec, Setting } from './services.ts';
import { GATEWAY, PASSED_THROUGH, SERVICES, urlVariable } from './services.ts';

const API_KEY_PREFIX = 'wts_';
export const LOCAL_JWT = { issuer: 'https://local.wts.example', audience: 'wts-local' } as const;

export interface StackOptions extends CrashListeners {
  readonly logs: string;
  readonly records: string;
  readonly database: Database;
  /** The address of NATS for a service, with what it may do there. */
  readonly natsUrlOf: (service: NatsUser) => string;
  readonly secrets: Secrets;
  readonly ports?: { readonly api: number; readonly auth: number };
  readonly replicas?: { readonly [service: string]: number };
  readonly restarts: boolean;
  /** The surroundings, of which only the settings of an operator are passed on. */
  readonly env: NodeJS.ProcessEnv;
  /** Settings of single services, over everything else. */
  readonly overrides?: { readonly [service: string]: { readonly [variable: string]: string } };
  /** Lets a test stand between a service and its stores. */
  readonly route?: (service: string, replica: number, store: 'postgres' | 'nats', url: string) => string;
}

interface Place {
  readonly spec: ServiceSpec;
  readonly replica: number;
  readonly name: string;
  readonly port: number;
}

const READY_MS = 60_000;

export class Stack implements AsyncDisposable {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly services: readonly SupervisedProcess[];
  readonly #options: StackOptions;
  readonly #places: readonly Place[];
  readonly #byName: ReadonlyMap<string, readonly SupervisedProcess[]>;
  readonly #authPort: number;

  private constructor(options: StackOptions, places: readonly Place[], authPort: number) {
    this.#options = options;
    this.#places = places;
    this.#authPort = authPort;
    this.baseUrl = `http://127.0.0.1:${places.find((place) => place.spec.name === GATEWAY)?.port ?? 0}`;
    this.authUrl = `http://127.0.0.1:${authPort}`;
    this.services = places.map((place) => this.#supervise(place));
    this.#byName = Map.groupBy(this.services, (_, index) => places[index]?.spec.name ?? '');
  }

  /** Chooses the addresses of every process: services know each other from the start. Starts nothing. */
  static async plan(options: StackOptions): Promise<Stack> {
    const places: Place[] = [];
    for (const spec of SERVICES) {
      const replicas = options.replicas?.[spec.name] ?? 1;
      for (let replica = 0; replica < replicas; replica += 1) {
        const port = spec.name === GATEWAY && options.ports !== undefined ? options.ports.api : await freePort();
        places.push({ spec, replica, port, name: replicas === 1 ? spec.name : `${spec.name}-${replica + 1}` });
      }
    }
    return new Stack(options, places, options.ports?.auth ?? (await freePort()));
  }

  service(name: string, replica = 0): SupervisedProcess {
    const found = this.replicasOf(name)[replica];
    if (found === undefined) throw new Error(`no service ${name} with replica ${replica}`);
    return found;
  }

  replicasOf(name: string): readonly SupervisedProcess[] {
    return this.#byName.get(name) ?? [];
  }

  /** In order, but without waiting for one before the next: each waits for what it needs by itself, as in a cluster. */
  async start(): Promise<void> {
    for (const service of this.services) await service.start();
  }

  /** Ready in the order of starting, so that the first fault is told and not its consequences. */
  async untilReady(onReady: (service: SupervisedProcess) => void = () => {}): Promise<void> {
    const deadline = Date.now() + READY_MS;
    for (const service of this.services) {
      await service.untilReady(Math.max(1, deadline - Date.now()));
      onReady(service);
    }
  }

  /** The demo workspace: the known one when its keys still open it, else made or found again by the seed. */
  async demo(): Promise<Demo> {
    const { demo } = this.#options.secrets;
    if (demo !== undefined && (await this.#opens(demo, demo.apiKey)) && (await this.#opens(demo, demo.readOnlyApiKey)))
      return demo;
    return this.#seed(demo);
  }

  async #opens({ workspaceId }: Demo, apiKey: string): Promise<boolean> {
    const answer = await fetch(`${this.baseUrl}/api/workspaces`, { headers: { authorization: `Bearer ${apiKey}` } });
    return (await answer.text()).includes(workspaceId);
  }

  async #seed(known: Demo | undefined): Promise<Demo> {
    const { secrets, database, env } = this.#options;
    const printed = await runScript('workspace', 'seed', {
      ...picked(env, PASSED_THROUGH),
      DATABASE_URL: database.urlOf('wts_workspace'),
      SYNC_URL: this.#urlsOf('sync'),
      INTERNAL_TOKEN_SECRET: secrets.internalTokenSecret,
      API_KEY_PREFIX,
      SEED_ISSUER: LOCAL_JWT.issuer,
      ...(known === undefined ? {} : { SEED_API_KEY: known.apiKey, SEED_READ_ONLY_API_KEY: known.readOnlyApiKey }),
    });
    return parseDemo(printed);
  }

  async stop(): Promise<void> {
    for (const { name } of SERVICES.toReversed()) {
      await Promise.all(this.replicasOf(name).map((service) => service.stop()));
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #supervise(place: Place): SupervisedProcess {
    const { logs, records } = this.#options;
    const log = join(logs, `${place.name}.log`);
    return new SupervisedProcess({
      ...this.#options,
      name: place.name,
      url: `http://127.0.0.1:${place.port}`,
      log,
      launch: () =>
        launch({
          name: place.name,
          command: process.execPath,
          args: [serviceFile(place.spec.name, 'main')],
          cwd: join(ROOT, 'services', place.spec.name),
          env: this.#environmentOf(place),
          log,
          records,
          channel: true,
          background: true,
        }),
    });
  }

  #environmentOf({ spec, replica, port }: Place): NodeJS.ProcessEnv {
    const {
      env,
      secrets,
      database,
      natsUrlOf,
      overrides,
      route = (_service, _replica, _store, url) => url,
    } = this.#options;
    const settings: Record<Setting, string> = {
      NATS_URL: route(spec.name, replica, 'nats', natsUrlOf(spec.name)),
      API_KEY_PREFIX,
      JWT_ISSUERS: JSON.stringify([
        { issuer: LOCAL_JWT.issuer, audiences: [LOCAL_JWT.audience], algorithms: ['HS256'], secret: secrets.jwtSecret },
      ]),
      BASE_URL: this.baseUrl,
      AUTH_URL: this.authUrl,
      // The first door has the public one; others listen wherever there is room.
      AUTH_PORT: replica === 0 ? String(this.#authPort) : '0',
    };
    return {
      ...picked(env, PASSED_THROUGH),
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: '0',
      INTERNAL_TOKEN_SECRET: secrets.internalTokenSecret,
      WTS_SUPERVISED: '1',
      ...picked(settings, spec.reads ?? []),
      ...Object.fromEntries((spec.calls ?? []).map((name) => [urlVariable(name), this.#urlsOf(name)])),
      ...(spec.role === undefined
        ? {}
        : { DATABASE_URL: route(spec.name, replica, 'postgres', database.urlOf(spec.role)) }),
      ...overrides?.[spec.name],
    };
  }

  #urlsOf(name: string): string {
    return this.#places
      .filter((place) => place.spec.name === name)
      .map((place) => `http://127.0.0.1:${place.port}`)
      .join(',');
  }
}

function parseDemo(printed: string): Demo {
  const line = printed
    .trim()
    .split('\n')
    .findLast((text) => text.startsWith('{'));
  try {
    const demo = JSON.parse(line ?? '') as Partial<Demo>;
    const { userId, workspaceId, apiKey, readOnlyApiKey } = demo;
    if (userId && workspaceId && apiKey && readOnlyApiKey) return { userId, workspaceId, apiKey, readOnlyApiKey };
  } catch {
    // Falls through to the one refusal below.
  }
  throw new Refusal(
    'services/workspace/src/seed.ts did not print its one line {userId, workspaceId, apiKey, readOnlyApiKey}.',
  );
}
