/** The stores of a cluster: three servers of NATS with one stream of three copies, and PostgreSQL with a synchronous standby. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NatsUser } from '@wts/contracts';
import {
  copyServer,
  describeDatabase,
  findNats,
  findPostgres,
  LOCAL,
  natsPasswordOf,
  natsPasswordsOf,
  openPostgres,
  provision,
  type Database,
  type Secrets,
} from '@wts/local';
import { eventually } from '@wts/testkit';
import { Client } from 'pg';
import { address } from './network.ts';
import { containerOptions } from './pod.ts';
import { HOME, podman } from './podman.ts';

const USER = 65_532;
const NATS_COUNT = 3;
const NATS_FROM = 11;
const POSTGRES_FROM = 21;
const READY_MS = 60_000;
const SHORT_MS = 5_000;
const DATABASE = 'wts';
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
}

export class Stores {
  readonly #options: StoresOptions;
  /** Of PostgreSQL: 0 or 1. */
  #primary = 0;
  #hasStandby = false;

  private constructor(options: StoresOptions) {
    this.#options = options;
  }

  static async open(options: StoresOptions): Promise<Stores> {
    const stores = new Stores(options);
    for (const directory of ['nats', 'postgres']) rmSync(join(HOME, directory), { recursive: true, force: true });
    await Promise.all([stores.#openNats(), stores.#openPostgres()]);
    return stores;
  }

  get natsAddresses(): readonly string[] {
    return Array.from({ length: NATS_COUNT }, (_, index) => address(NATS_FROM + index));
  }

  get natsNames(): readonly string[] {
    return Array.from({ length: NATS_COUNT }, (_, index) => natsName(index));
  }

  /** `hosts`: names for pods, addresses for this process. */
  natsUrlOf(user: NatsUser, hosts: 'names' | 'addresses'): string {
    const password = natsPasswordOf(user, this.#options.secrets.natsPassword);
    return this.natsAddresses
      .map((one, index) => `nats://wts_${user}:${password}@${hosts === 'names' ? natsName(index) : one}:4222`)
      .join();
  }

  get postgresAddresses(): readonly string[] {
    return [address(POSTGRES_FROM), address(POSTGRES_FROM + 1)];
  }

  get primaryAddress(): string {
    return address(POSTGRES_FROM + this.#primary);
  }

  /** None while the standby is made anew. */
  get standbyAddresses(): readonly string[] {
    return this.#hasStandby ? [this.#standbyAddress] : [];
  }

  get #standbyAddress(): string {
    return address(POSTGRES_FROM + 1 - this.#primary);
  }

  /** As this process sees it; the primary of now. */
  get database(): Database {
    return describeDatabase({
      adminUrl: this.#adminUrl(this.primaryAddress),
      name: DATABASE,
      fallbackKey: this.#options.secrets.roleKey,
    });
  }

  async killNats(index: number): Promise<void> {
    await podman('kill', natsName(index));
  }

  async startNats(index: number): Promise<void> {
    await podman('start', natsName(index));
  }

  /** Kills the primary and promotes the standby. The killed one then becomes a standby of the new primary. */
  async promote(): Promise<void> {
    const before = this.#primary;
    this.#hasStandby = false;
    await podman('rm', '--force', '--time', '0', postgresName(before));
    await query(this.#adminUrl(this.#standbyAddress), 'select pg_promote()');
    this.#primary = 1 - before;
  }

  /** Resolves when each commit waits for the standby. */
  async addStandby(): Promise<void> {
    const standby = 1 - this.#primary;
    const url = this.#adminUrl(this.primaryAddress);
    rmSync(dataOf(standby), { recursive: true, force: true });
    await copyServer(url, dataOf(standby), { own: (path) => chownSync(path, USER, USER) }, dataOf(this.#primary));
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
    const { secrets, image } = this.#options;
    const { file } = findNats(process.env);
    const passwords = Object.entries(natsPasswordsOf(secrets.natsPassword)).map(([name, value]) => `${name}=${value}`);
    const routes = this.natsAddresses.map((one) => `"nats://${one}:6222"`).join(', ');
    for (const [index, own] of this.natsAddresses.entries()) {
      const directory = join(HOME, 'nats', natsName(index));
      mkdirSync(join(directory, 'data'), { recursive: true });
      chownSync(join(directory, 'data'), USER, USER);
      const configuration = join(directory, 'nats.conf');
      writeFileSync(
        configuration,
        `server_name: "${natsName(index)}"
listen: "0.0.0.0:4222"
cluster { name: wts, listen: "0.0.0.0:6222", routes: [${routes}] }
jetstream { store_dir: "/data", max_memory_store: 64MB, max_file_store: 2GB }
authorization { include "users.conf" }
`,
      );
      const users = join(dirname(LOCAL), 'infra/nats/users.conf');
      const mounts = [
        `${file}:/nats-server:ro`,
        `${configuration}:/etc/nats/nats.conf:ro`,
        `${users}:/etc/nats/users.conf:ro`,
        `${join(directory, 'data')}:/data`,
      ];
      const options = containerOptions({ name: natsName(index), address: own, environment: passwords, mounts });
      await podman(
        'run',
        '--detach',
        '--user',
        String(USER),
        ...options,
        '--entrypoint',
        '/nats-server',
        image,
        '-c',
        '/etc/nats/nats.conf',
      );
    }
  }

  async #openPostgres(): Promise<void> {
    const { secrets } = this.#options;
    const data = dataOf(0);
    const resetHint = 'npm run cluster makes new data at each start';
    const files = { directory: data, log: join(HOME, 'logs/initdb.log'), records: join(HOME, 'run') };
    // Once on loopback, because initdb needs a shell and a user with a name.
    const made = await openPostgres({ ...files, password: secrets.postgresPassword, env: process.env, resetHint });
    await made.stop();
    const rules = ['all', 'replication'].map((database) => `host ${database} all 0.0.0.0/0 scram-sha-256\n`).join('');
    appendFileSync(join(data, 'pg_hba.conf'), rules);
    execFileSync('chown', ['-R', `${USER}:${USER}`, data]);
    await this.#runPostgres(0);
    await provision({ adminUrl: this.#adminUrl(this.primaryAddress), name: DATABASE, fallbackKey: secrets.roleKey });
    if (this.#options.roles !== undefined) await query(this.database.adminUrl, this.#options.roles);
    await this.addStandby();
  }

  async #runPostgres(index: number): Promise<void> {
    const { bin } = findPostgres(process.env);
    const own = address(POSTGRES_FROM + index);
    const mounts = [`${dirname(bin)}:/postgresql:ro`, `${dataOf(index)}:/data`];
    const environment = ['LC_ALL=C', 'TZ=UTC'];
    const options = containerOptions({ name: postgresName(index), address: own, environment, mounts });
    const settings = SETTINGS.flatMap((one) => ['-c', one]);
    await podman(
      'run',
      '--detach',
      '--replace',
      '--user',
      String(USER),
      '--shm-size',
      '256m',
      ...options,
      '--entrypoint',
      '/postgresql/bin/postgres',
      this.#options.image,
      '-D',
      '/data',
      ...settings,
    );
    await eventually(async () => (await query(this.#adminUrl(own), 'select 1')) === 1, { deadlineMs: READY_MS });
  }

  #adminUrl(host: string): string {
    return `postgres://postgres:${this.#options.secrets.postgresPassword}@${host}:5432/postgres`;
  }
}

function natsName(index: number): string {
  return `nats-${index}`;
}

function postgresName(index: number): string {
  return `postgres-${index}`;
}

function dataOf(index: number): string {
  return join(HOME, 'postgres', postgresName(index));
}

/** Resolves to the number of rows. */
async function query(url: string, sql: string): Promise<number> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: SHORT_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rowCount ?? 0;
  } finally {
    await client.end().catch(() => {});
  }
}
