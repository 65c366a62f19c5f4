/** The stores of a cluster: three servers of NATS with one stream of three copies, and PostgreSQL with a synchronous standby. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { natsUsersConfiguration, streamOf, type NatsUser } from '@wts/contracts';
import {
  copyServer,
  describeDatabase,
  findNats,
  findPostgres,
  natsPasswordOf,
  natsPasswordsOf,
  openPostgres,
  provision,
  type Database,
  type Secrets,
} from '@wts/local';
import { connectTo, eventually } from '@wts/testkit';
import { address } from './network.ts';
import { FIRST, type Place } from './place.ts';
import { containerOptions } from './pod.ts';
import { HOME, podman } from './podman.ts';

const USER = 65_532;
const READY_MS = 60_000;
const SHORT_MS = 5_000;
const DATABASE = 'wts';
const AUTH_DATABASE = 'wts_auth';
const SETTINGS = [
  'listen_addresses=*',
  'unix_socket_directories=',
  'max_connections=400',
  'wal_keep_size=512MB',
  'timezone=UTC',
  'log_line_prefix=%m [%p] %q%a ',
];

export interface StoresOptions {
  /** Any image with glibc: the servers are mounted into it. */
  readonly image: string;
  readonly secrets: Secrets;
  /** roles.sql of an earlier version, whose services need rights that the roles of now have no more. */
  readonly roles?: string | undefined;
  /** Default: the first cell. */
  readonly place?: Place | undefined;
  /** True: auth has a database of its own on the same server. */
  readonly hasAuthDatabase?: boolean | undefined;
}

export class Stores {
  readonly #options: StoresOptions;
  readonly #place: Place;
  /** Of PostgreSQL: 0 or 1. */
  #primary = 0;
  #hasStandby = false;

  private constructor(options: StoresOptions) {
    this.#options = options;
    this.#place = options.place ?? FIRST;
  }

  static async open(options: StoresOptions): Promise<Stores> {
    const stores = new Stores(options);
    // The first cell starts first.
    if (stores.#place === FIRST)
      for (const directory of ['nats', 'postgres']) rmSync(join(HOME, directory), { recursive: true, force: true });
    await Promise.all([stores.#openNats(), stores.#openPostgres()]);
    return stores;
  }

  get natsAddresses(): readonly string[] {
    return Array.from({ length: this.#place.natsCount }, (_, index) => address(this.#place.natsFrom + index));
  }

  get natsNames(): readonly string[] {
    return Array.from({ length: this.#place.natsCount }, (_, index) => natsName(this.#place, index));
  }

  /** `hosts`: names for pods, addresses for this process. */
  natsUrlOf(user: NatsUser, hosts: 'names' | 'addresses'): string {
    return natsUrl(this.#place, this.#options.secrets, user, hosts);
  }

  get postgresAddresses(): readonly string[] {
    return [address(this.#place.postgresFrom), address(this.#place.postgresFrom + 1)];
  }

  /** The name of whichever server is the primary. */
  get primaryName(): string {
    return `${this.#place.prefix}postgres-rw`;
  }

  get standbyName(): string | null {
    return this.#place.hasStandby ? `${this.#place.prefix}postgres-ro` : null;
  }

  get primaryAddress(): string {
    return address(this.#place.postgresFrom + this.#primary);
  }

  /** None while the standby is made anew. */
  get standbyAddresses(): readonly string[] {
    return this.#hasStandby ? [this.#standbyAddress] : [];
  }

  get #standbyAddress(): string {
    return address(this.#place.postgresFrom + 1 - this.#primary);
  }

  /** As this process sees it; the primary of now. */
  get database(): Database {
    return describeDatabase(this.#databases());
  }

  async killNats(index: number): Promise<void> {
    await podman('kill', natsName(this.#place, index));
  }

  async startNats(index: number): Promise<void> {
    await podman('start', natsName(this.#place, index));
  }

  /** Kills all servers. */
  async kill(): Promise<void> {
    await this.#all('kill');
  }

  /** Starts the servers again that `kill` killed. */
  async start(): Promise<void> {
    await this.#all('start');
  }

  async #all(command: 'kill' | 'start'): Promise<void> {
    const servers = [postgresName(this.#place, this.#primary), ...this.natsNames];
    await Promise.all(servers.map((name) => podman(command, name)));
  }

  #databases() {
    const adminUrl = this.#adminUrl(this.primaryAddress);
    const { hasAuthDatabase = false, secrets } = this.#options;
    const auth = hasAuthDatabase ? { auth: { adminUrl, name: AUTH_DATABASE } } : {};
    return { adminUrl, name: DATABASE, fallbackKey: secrets.roleKey, ...auth };
  }

  /** Kills the primary and promotes the standby. The killed one then becomes a standby of the new primary. */
  async promote(): Promise<void> {
    const before = this.#primary;
    this.#hasStandby = false;
    await podman('rm', '--force', '--time', '0', postgresName(this.#place, before));
    await query(this.#adminUrl(this.#standbyAddress), 'select pg_promote()');
    this.#primary = 1 - before;
  }

  /** Resolves when each commit waits for the standby. */
  async addStandby(): Promise<void> {
    const standby = 1 - this.#primary;
    const url = this.#adminUrl(this.primaryAddress);
    rmSync(dataOf(this.#place, standby), { recursive: true, force: true });
    const own = (path: string): void => chownSync(path, USER, USER);
    await copyServer(url, dataOf(this.#place, standby), { own }, dataOf(this.#place, this.#primary));
    await this.#runPostgres(standby);
    await eventually(
      async () => (await query(url, `select from pg_stat_replication where state = 'streaming'`)) === 1,
      { deadlineMs: READY_MS },
    );
    await query(url, `alter system set synchronous_standby_names = '*'`);
    await query(url, 'select pg_reload_conf()');
    this.#hasStandby = true;
  }

  async #openNats(): Promise<void> {
    const { secrets } = this.#options;
    const { file } = findNats(process.env);
    const passwords = Object.entries(natsPasswordsOf(secrets.natsPassword)).map(([name, value]) => `${name}=${value}`);
    const routes = this.natsAddresses.map((one) => `"nats://${one}:6222"`).join(', ');
    for (const [index, own] of this.natsAddresses.entries()) {
      const name = natsName(this.#place, index);
      const directory = join(HOME, 'nats', this.#place.release, name);
      mkdirSync(join(directory, 'data'), { recursive: true });
      chownSync(join(directory, 'data'), USER, USER);
      const configuration = join(directory, 'nats.conf');
      writeFileSync(
        configuration,
        `server_name: "${name}"
listen: "0.0.0.0:4222"
${this.#place.natsCount === 1 ? '' : `cluster { name: wts, listen: "0.0.0.0:6222", routes: [${routes}] }`}
jetstream { store_dir: "/data", max_memory_store: 64MB, max_file_store: 2GB }
authorization { include "users.conf" }
`,
      );
      const users = join(directory, 'users.conf');
      writeFileSync(users, natsUsersConfiguration(streamOf(this.#place.shard)));
      const mounts = [
        `${file}:/nats-server:ro`,
        `${configuration}:/etc/nats/nats.conf:ro`,
        `${users}:/etc/nats/users.conf:ro`,
        `${join(directory, 'data')}:/data`,
      ];
      const container = { name, address: own, environment: passwords, mounts };
      await this.#run(container, ['/nats-server', '-c', '/etc/nats/nats.conf']);
    }
  }

  async #openPostgres(): Promise<void> {
    const { secrets } = this.#options;
    const data = dataOf(this.#place, 0);
    const resetHint = 'npm run cluster makes new data at each start';
    const log = join(HOME, `logs/${this.#place.release}-initdb.log`);
    const files = { directory: data, log, records: join(HOME, 'run') };
    // Once on loopback, because initdb needs a shell and a user with a name.
    const made = await openPostgres({ ...files, password: secrets.postgresPassword, env: process.env, resetHint });
    await made.stop();
    const rules = ['all', 'replication'].map((database) => `host ${database} all 0.0.0.0/0 scram-sha-256\n`).join('');
    appendFileSync(join(data, 'pg_hba.conf'), rules);
    execFileSync('chown', ['-R', `${USER}:${USER}`, data]);
    await this.#runPostgres(0);
    await provision(this.#databases());
    if (this.#options.roles !== undefined) await query(this.database.adminUrl, this.#options.roles);
    if (this.#place.hasStandby) await this.addStandby();
  }

  async #runPostgres(index: number): Promise<void> {
    const { bin } = findPostgres(process.env);
    const own = address(this.#place.postgresFrom + index);
    const mounts = [`${dirname(bin)}:/postgresql:ro`, `${dataOf(this.#place, index)}:/data`];
    const environment = ['LC_ALL=C', 'TZ=UTC'];
    const container = { name: postgresName(this.#place, index), address: own, environment, mounts };
    const settings = SETTINGS.flatMap((one) => ['-c', one]);
    const program = ['/postgresql/bin/postgres', '-D', '/data', ...settings] as const;
    await this.#run(container, program, ['--replace', '--shm-size', '256m']);
    await eventually(async () => (await query(this.#adminUrl(own), 'select 1')) === 1, { deadlineMs: READY_MS });
  }

  async #run(
    container: Parameters<typeof containerOptions>[0],
    [program, ...args]: readonly [string, ...string[]],
    options: readonly string[] = [],
  ): Promise<void> {
    const all = [...options, '--user', String(USER), ...containerOptions(container), '--entrypoint', program];
    await podman('run', '--detach', ...all, this.#options.image, ...args);
  }

  #adminUrl(host: string): string {
    return `postgres://postgres:${this.#options.secrets.postgresPassword}@${host}:5432/postgres`;
  }
}

/** The URL of the NATS of a cell; it may not run yet. */
export function natsUrl(place: Place, secrets: Secrets, user: NatsUser, hosts: 'names' | 'addresses'): string {
  const password = natsPasswordOf(user, secrets.natsPassword);
  return Array.from({ length: place.natsCount }, (_, index) => {
    const host = hosts === 'names' ? natsName(place, index) : address(place.natsFrom + index);
    return `nats://wts_${user}:${password}@${host}:4222`;
  }).join();
}

function natsName({ prefix }: Place, index: number): string {
  return `${prefix}nats-${index}`;
}

function postgresName({ prefix }: Place, index: number): string {
  return `${prefix}postgres-${index}`;
}

function dataOf(place: Place, index: number): string {
  return join(HOME, 'postgres', place.release, postgresName(place, index));
}

/** Resolves to the number of rows. */
async function query(url: string, sql: string): Promise<number> {
  await using client = await connectTo(url, { connectionTimeoutMillis: SHORT_MS });
  return (await client.query(sql)).rowCount ?? 0;
}
