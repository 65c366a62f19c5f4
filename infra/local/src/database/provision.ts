/** Creates the database, the roles and the schemas. It is idempotent and safe when several processes run it. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { PATHS, ROOT } from '../layout.ts';
import { DATABASE_USERS, type DatabaseRole } from '../services.ts';
import { UserError, textOf } from '../user-error.ts';
import { POSTGRES_MAJOR_MIN } from '../servers/postgres-programs.ts';
import { connectTo } from './connect.ts';

/** The database of the services; that of auth may be another one. URLs carry passwords: never log them. */
export interface Database {
  readonly name: string;
  readonly adminUrl: string;
  /** Of an administrator in the database of auth. */
  readonly authAdminUrl: string;
  readonly urlOf: (role: DatabaseRole) => string;
}

/** The role that may have a database of its own. */
const AUTH_ROLE: DatabaseRole = 'wts_auth';
const ROLES = DATABASE_USERS.map(({ role }) => role);

// Roles belong to the whole server. Without the lock, concurrent changes of a role fail with "tuple concurrently updated".
const PROVISION_LOCK = 7_305_001;
const CONNECT_MS = 10_000;

interface Place {
  /** The URL of an administrator in the maintenance database. */
  readonly adminUrl: string;
  readonly name: string;
  /**
   * The database to copy, which already has its schemas. WAL_LOG writes its pages to the write-ahead log as well, FILE_COPY waits until
   * each of its files is on the disk: the latter takes half of the time where that is memory.
   */
  readonly template?: { readonly name: string; readonly strategy: 'WAL_LOG' | 'FILE_COPY' };
}

export interface ProvisionOptions extends Place {
  /** The key of role passwords when the administrator has no password (trust or peer authentication). */
  readonly fallbackKey: string;
  /** A database for auth alone. */
  readonly auth?: Place;
}

export async function provision(options: ProvisionOptions): Promise<Database & { readonly isNew: boolean }> {
  const { auth, ...common } = options;
  const roles = auth === undefined ? ROLES : ROLES.filter((role) => role !== AUTH_ROLE);
  const isNew = await provisionOne(common, roles);
  if (auth !== undefined) await provisionOne({ ...auth, fallbackKey: options.fallbackKey }, [AUTH_ROLE]);
  return { ...describeDatabase(options), isNew };
}

/** True when it made the database. */
async function provisionOne(options: Omit<ProvisionOptions, 'auth'>, roles: readonly DatabaseRole[]): Promise<boolean> {
  // Its end also releases the lock.
  await using admin = await connect(options.adminUrl);
  try {
    await refuseOldServer(admin);
    await admin.query('SELECT pg_advisory_lock($1)', [PROVISION_LOCK]);
    const isNew = await createDatabase(admin, options);
    if (options.template !== undefined) return isNew;
    await using inDatabase = await connect(urlOf(options));
    await inDatabase.query(`SELECT set_config('wts.roles', $1, false)`, [roles.join(',')]);
    await inDatabase.query(readFileSync(join(ROOT, 'infra/postgres/roles.sql'), 'utf8'));
    for (const role of roles) {
      const password = escapeLiteral(rolePassword(options, role));
      await inDatabase.query(`ALTER ROLE ${escapeIdentifier(role)} PASSWORD ${password}`);
    }
    return isNew;
  } catch (error) {
    throw explained(error, options.adminUrl);
  }
}

/** The URLs of existing databases. */
export function describeDatabase({ auth, ...options }: ProvisionOptions): Database {
  const placeOf = (role: DatabaseRole): Place => (role === AUTH_ROLE ? (auth ?? options) : options);
  return {
    name: options.name,
    adminUrl: urlOf(options),
    authAdminUrl: urlOf(placeOf(AUTH_ROLE)),
    urlOf: (role) =>
      rewrite(urlOf(placeOf(role)), (url) => {
        url.username = role;
        url.password = rolePassword({ ...options, ...placeOf(role) }, role);
      }),
  };
}

/** Of an administrator in the database itself. */
function urlOf({ adminUrl, name }: Place): string {
  return rewrite(adminUrl, (url) => (url.pathname = `/${name}`));
}

export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await using admin = await connect(adminUrl);
  await admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
}

export async function databaseExists(adminUrl: string, name: string): Promise<boolean> {
  await using admin = await connect(adminUrl);
  return (await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])).rowCount === 1;
}

/** Runs `work` under an advisory lock of the server. */
export async function withServerLock<T>(
  adminUrl: string,
  key: number,
  work: (admin: Client) => Promise<T>,
): Promise<T> {
  await using admin = await connect(adminUrl);
  await admin.query('SELECT pg_advisory_lock($1)', [key]);
  return await work(admin);
}

/**
 * The database of a DATABASE_URL of the user. When the URL names a maintenance database or none, the database has a name of ours and is
 * created on that server.
 */
export function ownDatabase(databaseUrl: string, ourName: string): Place {
  const named = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
  const maintenance = named === '' || named === 'postgres' || named.startsWith('template');
  return { adminUrl: rewrite(databaseUrl, (url) => (url.pathname = '/postgres')), name: maintenance ? ourName : named };
}

/** Passwords are derived from the administrator's, so that every tool with that password computes the same without a store. */
function rolePassword(options: Pick<ProvisionOptions, 'adminUrl' | 'fallbackKey'>, role: DatabaseRole): string {
  return createHmac('sha256', new URL(options.adminUrl).password || options.fallbackKey)
    .update(`wts role ${role}`)
    .digest('base64url');
}

async function connect(url: string): ReturnType<typeof connectTo> {
  try {
    return await connectTo(url, { connectionTimeoutMillis: CONNECT_MS, application_name: 'wts provision' });
  } catch (error) {
    throw explained(error, url);
  }
}

async function refuseOldServer(admin: Client): Promise<void> {
  const { rows } = await admin.query<{ server_version: string }>('SHOW server_version');
  const version = rows[0]?.server_version ?? '0';
  if (Number.parseInt(version, 10) < POSTGRES_MAJOR_MIN)
    throw new UserError(`The PostgreSQL server has version ${version}, but ${POSTGRES_MAJOR_MIN} or newer is needed.`);
}

async function createDatabase(admin: Client, options: ProvisionOptions): Promise<boolean> {
  const existing = await admin.query('SELECT FROM pg_database WHERE datname = $1', [options.name]);
  if (existing.rowCount !== 0) return false;
  const { name, template } = options;
  const copied =
    template === undefined ? '' : ` TEMPLATE ${escapeIdentifier(template.name)} STRATEGY ${template.strategy}`;
  await admin.query(`CREATE DATABASE ${escapeIdentifier(name)}${copied}`);
  return true;
}

function explained(error: unknown, url: string): Error {
  if (error instanceof UserError) return error;
  const { host, username, pathname } = new URL(url);
  const code = (error as { code?: string }).code;
  const where = `The PostgreSQL server at ${host || 'its socket'}`;
  switch (code) {
    case '42501':
      return new UserError(
        `The role "${decodeURIComponent(username)}" of DATABASE_URL may not set up the PostgreSQL server at ${host || 'its socket'}: ${textOf(error)}.\n` +
          'Use a superuser or a role with CREATEROLE and CREATEDB, or let an administrator run infra/postgres/roles.sql.',
      );
    case '28P01':
    case '28000':
      return new UserError(
        `${where} refuses the credentials of DATABASE_URL: ${textOf(error)}.\nCorrect the user and the password in DATABASE_URL.`,
      );
    case '3D000':
      return new UserError(
        `${where} has no database "${pathname.slice(1)}". Use a DATABASE_URL whose role may connect to the database "postgres".`,
      );
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EHOSTUNREACH':
    case 'ETIMEDOUT':
    case 'EAI_AGAIN':
      return new UserError(
        `${where} cannot be reached (${code}). Start it, correct DATABASE_URL, or unset DATABASE_URL to use the included server.`,
      );
    default:
      return new UserError(
        `${where} cannot be set up: ${textOf(error)}${code === undefined ? '' : ` (${code})`}.\n` +
          `Its log may say more; that of the included server is ${relative(ROOT, PATHS.logs)}/postgres.log.`,
        { cause: error },
      );
  }
}

function rewrite(text: string, change: (url: URL) => void): string {
  const url = new URL(text);
  change(url);
  return url.href;
}
