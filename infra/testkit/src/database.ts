/** Real PostgreSQL for tests: one server per process, a new database per test or test system. */
import {
  IS_AUTH_APART,
  SHARED_BY_TESTS,
  connectTo,
  databaseExists,
  debianPostgres,
  describeDatabase,
  dropDatabase,
  findPostgres,
  isInMemory,
  migrateServices,
  openPostgres,
  provision,
  templatesHash,
  withServerLock,
  type Database,
  type DatabaseRole,
  type DemoWorkspace,
  type PostgresPrograms,
  type PostgresServer,
  type ProvisionOptions,
} from '@wts/local';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { programOf } from './built-services.ts';
import { seedDemo } from './demo.ts';
import { eventually } from './eventually.ts';
import { preparedServer, type PreparedServer } from './prepared-server.ts';
import { scratch, scratchRoot } from './scratch.ts';

export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  /** Connects as superuser to this database. */
  readonly url: string;
  /** Connects as superuser to the database of auth. */
  readonly authUrl: string;
  /** Connects as superuser to the maintenance database. */
  readonly adminUrl: string;
  /** Connects with the role of a service: only its rights, its schema first. */
  readonly urlOf: (role: DatabaseRole) => string;
  readonly drop: () => Promise<void>;
}

export interface TestDatabaseOptions {
  /** True: with the tables of every service, copied from a template that is created once per state of the migrations. */
  readonly migrated?: boolean;
  /** True: also with the demo workspace, copied from another template; `demoOf` has its keys. */
  readonly seeded?: boolean;
  /** Another server instead of the shared one. */
  readonly adminUrl?: string;
  /** Whether auth has a database of its own; by default as all of the run. Templates are of that kind only. */
  readonly authDatabase?: boolean;
}

const FALLBACK_KEY = 'test';
const TEMPLATE_LOCK = 7_305_002;
const DISCONNECT_MS = 1_000;
/** Larger databases are dropped also where others stay, so that a run needs a bounded part of the disk. */
const STAYS_BYTES_MAX = 24 * 1024 * 1024;
let shared: Promise<PostgresServer> | null = null;
let prepared: Promise<PreparedServer> | null = null;
/** The templates that this process has seen, with their servers. */
const found = new Set<string>();

/** Creates a database with the roles and schemas of every service. It is unusable after `drop()`. */
export async function testDatabase(label = 'test', options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const adminUrl = options.adminUrl ?? (await adminUrlOfTests());
  const name = `wts_${label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, 30)}_${randomBytes(5).toString('hex')}`;
  const { migrated = false, seeded = false, authDatabase = IS_AUTH_APART } = options;
  const base = placesOf({ adminUrl, name, fallbackKey: FALLBACK_KEY }, authDatabase);
  const database = migrated || seeded ? await fromTemplate(base, { seeded }) : await provision(base);
  const drop = async (): Promise<void> => {
    for (const one of [name, ...(base.auth === undefined ? [] : [base.auth.name])]) {
      await using admin = await connectTo(adminUrl);
      await untilUnused(admin, one);
      if (isOurs(adminUrl) && !isInMemory(scratchRoot()) && (await closeSmall(admin, one))) continue;
      await admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(one)} WITH (FORCE)`);
    }
  };
  const { adminUrl: url, authAdminUrl: authUrl, urlOf } = database;
  return { name, url, authUrl, adminUrl, urlOf, drop, [Symbol.asyncDispose]: drop };
}

type Base = Pick<ProvisionOptions, 'adminUrl' | 'name' | 'fallbackKey' | 'auth'>;

function placesOf(base: Omit<Base, 'auth'>, isAuthApart: boolean): Base {
  return isAuthApart ? { ...base, auth: { adminUrl: base.adminUrl, name: authName(base.name) } } : base;
}

const authName = (name: string): string => `${name}_auth`;

/**
 * Waits a moment until all connections are closed. A pool reports its end before it has closed the last one, and dropping
 * the database then would raise an error that no handler catches. When connections are left, it is dropped with force.
 */
async function untilUnused(admin: Client, name: string): Promise<void> {
  const isEmpty = async (): Promise<boolean> =>
    (await admin.query('SELECT FROM pg_stat_activity WHERE datname = $1', [name])).rowCount === 0;
  await eventually(isEmpty, { deadlineMs: DISCONNECT_MS }).catch(() => {});
}

/** Whether the files of the server end with this process: it is not one of the user. */
function isOurs(adminUrl: string): boolean {
  return adminUrl !== process.env['TEST_DATABASE_URL'];
}

/**
 * Ends all connections to a small database and refuses new ones, but keeps its files until the server ends. DROP DATABASE
 * would delete 300 files, and ext4 searches past inodes that were deleted in the last 5 s for each new file: that makes the
 * next CREATE DATABASE take 300 ms of a processor instead of 50 ms. Resolves to false when the database is large.
 */
async function closeSmall(admin: Client, name: string): Promise<boolean> {
  const { rows } = await admin.query<{ bytes: string }>('SELECT pg_database_size($1)::text AS bytes', [name]);
  if (Number(rows[0]?.bytes) > STAYS_BYTES_MAX) return false;
  await admin.query(`ALTER DATABASE ${escapeIdentifier(name)} ALLOW_CONNECTIONS false`);
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  return true;
}

/** The server of the user in TEST_DATABASE_URL, or else one that ends with this process. */
async function adminUrlOfTests(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') return given;
  shared ??= openShared();
  return (await shared).url();
}

/** It ends with this process: normally as soon as nothing else is open, and after a kill by the reaper. */
async function openShared(): Promise<PostgresServer> {
  const server = await openTestPostgres('postgres', { settings: SHARED_BY_TESTS });
  process.once('beforeExit', () => void server[Symbol.asyncDispose]());
  return server;
}

interface ServerOptions {
  readonly programs?: PostgresPrograms;
  /** Server settings: `{ jit: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The positions of the log have gaps in this run: see `migrateServices` of infra/local. */
export const HAS_GAPS = (process.env['TEST_LOG_GAP'] ?? '') !== '';

/** With the default programs the server has the template of migrated databases from the beginning. */
export async function openTestPostgres(label: string, options: ServerOptions = {}): Promise<PostgresServer> {
  if (options.programs !== undefined) return openServer(label, { password: newPassword(), ...options });
  prepared ??= preparedServer(findPostgres(process.env).version, openWithTemplates);
  const { data, password } = await prepared;
  return openServer(label, { password, copyOf: data, ...options });
}

async function openWithTemplates(): Promise<PostgresServer> {
  // Without old files of the write-ahead log, which copies do not need.
  const settings = { wal_recycle: 'off', min_wal_size: '32MB' };
  const server = await openServer('template', { password: newPassword(), settings });
  await untilTemplate(server.url(), { seeded: true });
  return server;
}

const newPassword = (): string => randomBytes(24).toString('base64url');
const templateName = ({ seeded }: { readonly seeded: boolean }): string =>
  `wts_${seeded ? 'demo' : 'template'}_${templatesHash()}`;

/** Downloads PostgreSQL from Debian. Null, with a warning, when that is not possible. */
export async function fetchPostgres(name: 'postgresql-15'): Promise<PostgresPrograms | null> {
  try {
    return await debianPostgres(name);
  } catch (error) {
    process.emitWarning(`No ${name} could be fetched: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

/** Starts a streaming standby of a server. It follows within milliseconds, unless a test calls `pg_wal_replay_pause()`. */
export function openTestStandby(primary: PostgresServer, label: string): Promise<PostgresServer> {
  const url = primary.url();
  return openServer(label, { password: decodeURIComponent(new URL(url).password), standbyOf: url });
}

function openServer(
  label: string,
  options: ServerOptions & { password: string; standbyOf?: string; copyOf?: string },
): Promise<PostgresServer> {
  // Where the data must be outside the repository, its place depends on this name only.
  const directory = scratch(`${label}-${process.pid}`);
  return openPostgres({
    directory: join(directory, 'data'),
    log: join(directory, 'postgres.log'),
    records: join(directory, 'run'),
    env: process.env,
    resetHint: 'Remove the directory .local',
    throwaway: true,
    ...options,
  });
}

async function fromTemplate(base: Base, options: { readonly seeded: boolean }): Promise<Database> {
  return provision(copyOf(base, await untilTemplate(base.adminUrl, options)));
}

function copyOf({ auth, ...base }: Base, template: string): ProvisionOptions {
  const strategy = isOurs(base.adminUrl) && isInMemory(scratchRoot()) ? 'FILE_COPY' : 'WAL_LOG';
  const copy = { ...base, template: { name: template, strategy } } as const;
  return auth === undefined ? copy : { ...copy, auth: { ...auth, template: { name: authName(template), strategy } } };
}

/** Resolves to the name of the template, which it creates where it is missing. */
async function untilTemplate(adminUrl: string, { seeded }: { readonly seeded: boolean }): Promise<string> {
  const template = templateName({ seeded });
  const place = `${template} ${adminUrl}`;
  if (!found.has(place) && !(await databaseExists(adminUrl, template))) await makeTemplate(adminUrl, template, seeded);
  found.add(place);
  return template;
}

async function makeTemplate(adminUrl: string, template: string, isSeeded: boolean): Promise<void> {
  const migrated = isSeeded ? await untilTemplate(adminUrl, { seeded: false }) : null;
  await createTemplate(adminUrl, template, async (draft, admin) => {
    if (migrated === null) {
      await provision(draft);
      await migrateServices(describeDatabase(draft), process.env, programOf);
      return null;
    }
    const demo = await seedDemo(await provision(copyOf(draft, migrated)));
    for (const name of [draft.name, authName(draft.name)]) await untilUnused(admin, name);
    return demo;
  });
}

/** The template gets its name only when it is complete, because other processes copy it as soon as they find it. */
async function createTemplate(
  adminUrl: string,
  template: string,
  make: (draft: Base, admin: Client) => Promise<DemoWorkspace | null>,
): Promise<void> {
  await withServerLock(adminUrl, TEMPLATE_LOCK, async (admin) => {
    if (await databaseExists(adminUrl, template)) return;
    const name = `${template}_draft`;
    for (const one of [name, authName(name)]) await dropDatabase(adminUrl, one);
    const base = placesOf({ adminUrl, name, fallbackKey: FALLBACK_KEY }, IS_AUTH_APART);
    const demo = await make(base, admin);
    if (base.auth !== undefined) {
      const ofAuth = escapeIdentifier(base.auth.name);
      await admin.query(`ALTER DATABASE ${ofAuth} RENAME TO ${escapeIdentifier(authName(template))}`);
    }
    const draft = escapeIdentifier(name);
    await admin.query(`COMMENT ON DATABASE ${draft} IS ${escapeLiteral(JSON.stringify(demo))}`);
    await admin.query(`ALTER DATABASE ${draft} RENAME TO ${escapeIdentifier(template)}`);
  });
}

/** The owner of the demo workspace in every seeded database of the server, with their keys. */
export async function demoOf({ adminUrl }: Pick<TestDatabase, 'adminUrl'>): Promise<DemoWorkspace> {
  await using admin = await connectTo(adminUrl);
  const { rows } = await admin.query<{ demo: string }>(
    `SELECT shobj_description(oid, 'pg_database') AS demo FROM pg_database WHERE datname = $1`,
    [templateName({ seeded: true })],
  );
  return JSON.parse(rows[0]?.demo ?? '') as DemoWorkspace;
}
