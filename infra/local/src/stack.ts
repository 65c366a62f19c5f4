/**
 * All services together: connected to each other, to their database and to NATS, started in order and stopped in reverse.
 * `npm start` and every test system use one stack, or one for each cell: the first has the services that are global, and the others
 * use these.
 */
import { NATS_USERS, type NatsUser } from '@wts/contracts';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Database } from './database/provision.ts';
import { picked } from './database/migrate.ts';
import { API_KEY_PREFIX, seedDemo } from './database/seed.ts';
import { LOCAL_JWT } from './local-jwt.ts';
import { ROOT, sourceOf, type ProgramOf } from './layout.ts';
import { launch } from './processes/launch.ts';
import { freePort } from './processes/ports.ts';
import { SupervisedProcess } from './processes/supervised.ts';
import { tokenSettings, type DemoWorkspace, type Secrets } from './secrets.ts';
import type { CrashHandlers } from './servers/server-control.ts';
import type { GivenSetting, ServiceSpec } from './services.ts';
import { LOOPBACK_CIDRS } from './webhooks.ts';
import { addressedBy, GATEWAY, PASSED_THROUGH, SERVICES, urlVariable } from './services.ts';

export interface StackOptions extends CrashHandlers {
  readonly logs: string;
  readonly records: string;
  readonly database: Database;
  /** The URL of NATS with the user of a service. */
  readonly natsUrlOf: (service: NatsUser) => string;
  readonly secrets: Secrets;
  /** The host in the address of the authorization origin. A browser knows passkeys only at one with a name. */
  readonly authHost?: 'localhost';
  readonly ports?: { readonly api: number; readonly auth: number };
  /** A certificate that the webhook dispatcher trusts, for receivers on this machine. */
  readonly webhookCaFile?: string;
  /** The mail server of a system whose environment names none. */
  readonly smtpUrl?: string;
  /** Zero needs a row in `elsewhere`. */
  readonly replicas?: { readonly [service: string]: number };
  /** The URL of a service without replicas. */
  readonly elsewhere?: ReadonlyMap<string, string>;
  /** Of people, beside that of this machine, as in JWT_ISSUERS. */
  readonly issuers?: readonly object[];
  readonly restarts: boolean;
  /** True: each process serves /metrics on a free port. */
  readonly metrics?: boolean;
  readonly programOf?: ProgramOf;
  /** Of each process. */
  readonly nodeOptions?: readonly string[];
  /** Of a further cell: its number, and the stack of the first cell. */
  readonly cell?: { readonly shard: number; readonly first: Stack };
  /** The environment of the starting process; services get only the variables in `PASSED_THROUGH`. */
  readonly env: NodeJS.ProcessEnv;
  /** Settings of services, which replace all others. */
  readonly overrides?: { readonly [service: string]: { readonly [variable: string]: string } };
  /** Lets a test put a proxy between a service and its stores. */
  readonly route?: (service: string, replica: number, store: 'postgres' | 'nats', url: string) => string;
}

interface PlannedProcess {
  readonly spec: ServiceSpec;
  readonly replica: number;
  readonly name: string;
  readonly port: number;
  /** Zero: none. */
  readonly metricsPort: number;
}

const READY_MS = 60_000;

export class Stack implements AsyncDisposable {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly services: readonly SupervisedProcess[];
  readonly #options: StackOptions;
  readonly #planned: readonly PlannedProcess[];
  readonly #byName: ReadonlyMap<string, readonly SupervisedProcess[]>;
  readonly #authPort: number;
  /** Of the first cell: itself and the others. */
  readonly #cells: Stack[] = [this];

  private constructor(options: StackOptions, planned: readonly PlannedProcess[], authPort: number) {
    this.#options = options;
    this.#planned = planned;
    this.#authPort = authPort;
    this.baseUrl = `http://127.0.0.1:${planned.find((one) => one.spec.name === GATEWAY)?.port ?? 0}`;
    this.authUrl = options.cell?.first.authUrl ?? `http://${options.authHost ?? '127.0.0.1'}:${authPort}`;
    if (options.cell !== undefined) options.cell.first.#cells.push(this);
    this.services = planned.map((one) => this.#supervise(one));
    this.#byName = Map.groupBy(this.services, (_, index) => planned[index]?.spec.name ?? '');
  }

  /** Chooses the address of every process, because each service gets the URLs of others when it starts. Starts nothing. */
  static async plan(options: StackOptions): Promise<Stack> {
    const planned: PlannedProcess[] = [];
    const { cell } = options;
    for (const spec of SERVICES.filter(({ isGlobal }) => cell === undefined || !isGlobal)) {
      const replicas = options.replicas?.[spec.name] ?? 1;
      for (let replica = 0; replica < replicas; replica += 1) {
        const port = spec.name === GATEWAY && options.ports !== undefined ? options.ports.api : await freePort();
        const metricsPort = options.metrics ? await freePort() : 0;
        planned.push({
          spec,
          replica,
          port,
          metricsPort,
          name: `${cell === undefined ? '' : `cell${cell.shard}-`}${spec.name}${replicas === 1 ? '' : `-${replica + 1}`}`,
        });
      }
    }
    return new Stack(options, planned, options.ports?.auth ?? (await freePort()));
  }

  service(name: string, replica = 0): SupervisedProcess {
    const found = this.replicasOf(name)[replica];
    if (found === undefined) throw new Error(`no service ${name} with replica ${replica}`);
    return found;
  }

  /** The address of the metrics of a process, by its name; null when it has none. */
  metricsUrlOf(name: string): string | null {
    const port = this.#planned.find((one) => one.name === name)?.metricsPort ?? 0;
    return port === 0 ? null : `http://127.0.0.1:${port}/metrics`;
  }

  replicasOf(name: string): readonly SupervisedProcess[] {
    return this.#byName.get(name) ?? [];
  }

  /** Starts all services without waiting between them, because each one waits for what it needs, as in a cluster. */
  async start(): Promise<void> {
    for (const service of this.services) await service.start();
  }

  /** Waits in the order of starting, so that the first error is reported and not its consequences. */
  async untilReady(onReady: (service: SupervisedProcess) => void = () => {}): Promise<void> {
    const deadline = Date.now() + READY_MS;
    for (const service of this.services) {
      await service.untilReady(Math.max(1, deadline - Date.now()));
      onReady(service);
    }
  }

  /** The stored demo workspace when its keys still work; otherwise the seed creates or finds it. */
  async demo(): Promise<DemoWorkspace> {
    const { demo } = this.#options.secrets;
    // Stored by an earlier version, it has no person.
    const { person = null } = (demo ?? {}) as Partial<DemoWorkspace>;
    const hasAll = demo !== undefined && person !== null;
    if (hasAll && (await this.#works(demo, demo.apiKey)) && (await this.#works(demo, demo.readOnlyApiKey))) return demo;
    return this.#seed(demo, person?.password ?? randomBytes(12).toString('base64url'));
  }

  async #works({ workspaceId }: DemoWorkspace, apiKey: string): Promise<boolean> {
    const response = await fetch(`${this.baseUrl}/api/workspaces`, { headers: { authorization: `Bearer ${apiKey}` } });
    return (await response.text()).includes(workspaceId);
  }

  #seed(stored: DemoWorkspace | undefined, password: string): Promise<DemoWorkspace> {
    const { secrets, database, env } = this.#options;
    const { urlOf } = database;
    return seedDemo({ env, secrets, urlOf, syncUrls: this.#urlsOf('sync'), password, stored });
  }

  async stop(): Promise<void> {
    for (const { name } of SERVICES.toReversed())
      await Promise.all(this.replicasOf(name).map((service) => service.stop()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #supervise(planned: PlannedProcess): SupervisedProcess {
    const { logs, records, programOf = sourceOf, nodeOptions = [] } = this.#options;
    const log = join(logs, `${planned.name}.log`);
    return new SupervisedProcess({
      ...this.#options,
      name: planned.name,
      url: `http://127.0.0.1:${planned.port}`,
      log,
      launch: async () =>
        launch({
          name: planned.name,
          command: process.execPath,
          args: [...nodeOptions, await programOf(planned.spec.name)],
          cwd: join(ROOT, 'services', planned.spec.name),
          env: this.#environmentOf(planned),
          log,
          records,
          channel: true,
          background: true,
        }),
    });
  }

  #environmentOf({ spec, replica, port, metricsPort }: PlannedProcess): NodeJS.ProcessEnv {
    const {
      env,
      secrets,
      database,
      natsUrlOf,
      overrides,
      smtpUrl,
      issuers = [],
      webhookCaFile,
      route = (_service, _replica, _store, url) => url,
    } = this.#options;
    const natsUser = NATS_USERS.find((user) => user === spec.name);
    const settings: Record<GivenSetting, string> = {
      NATS_URL: natsUser === undefined ? '' : route(spec.name, replica, 'nats', natsUrlOf(natsUser)),
      API_KEY_PREFIX,
      JWT_ISSUERS: JSON.stringify([
        { issuer: LOCAL_JWT.issuer, audiences: [LOCAL_JWT.audience], algorithms: ['HS256'], secret: secrets.jwtSecret },
        ...issuers,
      ]),
      BASE_URL: this.baseUrl,
      AUTH_URL: this.authUrl,
      // The first gateway has the public port, the others any free port.
      AUTH_PORT: replica === 0 ? String(this.#authPort) : '0',
      AUTH_SECRET_KEY: env['AUTH_SECRET_KEY'] ?? secrets.authSecretKey,
      SMTP_URL: env['SMTP_URL'] ?? smtpUrl ?? '',
      MAIL_FROM: env['MAIL_FROM'] ?? 'Workspace Task Service <no-reply@localhost>',
      REPLAY_SECRET: env['REPLAY_SECRET'] ?? secrets.replaySecret,
      WEBHOOK_SECRET_KEY: env['WEBHOOK_SECRET_KEY'] ?? secrets.webhookSecretKey,
      WEBHOOK_ALLOWED_CIDRS: env['WEBHOOK_ALLOWED_CIDRS'] ?? LOOPBACK_CIDRS,
      WEBHOOK_EXTRA_CA_FILE: env['WEBHOOK_EXTRA_CA_FILE'] ?? webhookCaFile ?? '',
    };
    return {
      ...picked(env, PASSED_THROUGH),
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      ...tokenSettings(spec.name, secrets),
      WTS_SUPERVISED: '1',
      ...picked(settings, spec.given),
      ...this.#cellSettings(spec),
      ...Object.fromEntries(addressedBy(spec.name).map((name) => [urlVariable(name), this.#urlsOf(name)])),
      ...(spec.database === undefined
        ? {}
        : { DATABASE_URL: route(spec.name, replica, 'postgres', database.urlOf(spec.database.role)) }),
      ...overrides?.[spec.name],
    };
  }

  /** None when there is one cell. */
  #cellSettings({ name }: ServiceSpec): NodeJS.ProcessEnv {
    if (this.#cells.length === 1 && this.#options.cell === undefined) return {};
    return { SHARD: String(this.#shard), ...(name === 'auth' ? { CELLS: this.#describeCells() } : {}) };
  }

  get #shard(): number {
    return this.#options.cell?.shard ?? 0;
  }

  #describeCells(): string {
    const cells = this.#cells.map((cell) => ({
      shard: cell.#shard,
      baseUrl: cell.baseUrl,
      syncUrls: cell.#urlsOf('sync').split(','),
      workspaceUrls: cell.#urlsOf('workspace').split(','),
      dispatcherUrls: cell.#urlsOf('webhook-dispatcher').split(','),
      natsUrl: cell.#options.natsUrlOf('auth'),
    }));
    return JSON.stringify(cells);
  }

  #urlsOf(name: string): string {
    const { cell, elsewhere } = this.#options;
    const planned = this.#planned.filter((one) => one.spec.name === name);
    if (planned.length > 0) return planned.map((one) => `http://127.0.0.1:${one.port}`).join(',');
    const isElsewhere = elsewhere?.has(name) ?? false;
    return isElsewhere || cell === undefined ? (elsewhere?.get(name) ?? '') : cell.first.#urlsOf(name);
  }
}
