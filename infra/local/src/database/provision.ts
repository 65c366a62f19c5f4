/** Database, roles, schemas: what an administrator does once. Idempotent, and safe when several do it at the same time. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceName } from '@wts/contracts';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { ROOT } from '../layout.ts';
import { Refusal, textOf } from '../refusal.ts';
import { POSTGRES_MAJOR_MIN } from '../servers/postgres-programs.ts';

export type DatabaseRole = `wts_${ServiceName}`;

/** One database of the service. URLs carry passwords: never log them. */
export interface Database {
  readonly name: string;
  readonly adminUrl: string;
  readonly urlOf: (role: DatabaseRole) => string;
}

// Roles belong to the whole server, and PostgreSQL answers concurrent changes of one with "tuple concurrently updated".
const PROVISION_LOCK = 7_305_001;
const CONNECT_MS = 10_000;

export interface ProvisionOptions {
  /** URL of an administrator, with the maintenance database. */
  readonly adminUrl: string;
  readonly name: string;
  /** Keys the passwords of the roles when the administrator has none (trust or peer authentication). */
  readonly fallbackKey: string;
  /** Copies this database, which has its schemas already. */
  readonly template?: string;
}

export async function provision(options: ProvisionOptions): Promise<Database> {
  const database = describeDatabase(options);
  const admin = await connect(options.adminUrl);
  try {
    await refuseOldServer(admin);
    await admin.query('SELECT pg_advisory_lock($1)', [PROVISION_LOCK]);
    await createDatabase(admin, options);
    if (options.template === undefined) {
      const inside = await connect(database.adminUrl);
      try {
        await inside.query(readFileSync(join(ROOT, 'infra/postgres/roles.sql'), 'utf8'));
        const { rows } = await inside.query<{ role: DatabaseRole }>('SELECT role FROM service_role');
        for (const { role } of rows) {
          const password = escapeLiteral(rolePassword(options, role));
          await inside.query(`ALTER ROLE ${escapeIdentifier(role)} PASSWORD ${password}`);
        }
      } finally {
        await inside.end();
      }
    }
  } catch (error) {
    throw explained(error, options.adminUrl);
  } finally {
    // Ends the session, and with it the lock.
    await admin.end();
  }
  return database;
}

/** The URLs of a database that exists. */
export function describeDatabase(options: Pick<ProvisionOptions, 'adminUrl' | 'name' | 'fallbackKey'>): Database {
  return {
    name: options.name,
    adminUrl: rewrite(options.adminUrl, (url) => (url.pathname = `/${options.name}`)),
    urlOf: (role) =>
      rewrite(options.adminUrl, (url) => {
        url.username = role;
        url.password = rolePassword(options, role);
        url.pathname = `/${options.name}`;
      }),
  };
}

export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  const admin = await connect(adminUrl);
  try {
    await admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
  } finally {
    await admin.end();
  }
}

export async function databaseExists(adminUrl: string, name: string): Promise<boolean> {
  const admin = await connect(adminUrl);
  try {
    return (await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])).rowCount === 1;
  } finally {
    await admin.end();
  }
}

/** Runs `work` while no other process does under the same key on the same server. */
export async function withServerLock<T>(
  adminUrl: string,
  key: number,
  work: (admin: Client) => Promise<T>,
): Promise<T> {
  const admin = await connect(adminUrl);
  try {
    await admin.query('SELECT pg_advisory_lock($1)', [key]);
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/**
 * Which database a URL of one's own means. The maintenance databases hold nothing of ours, so a URL that names one
 * (or none) means "make your own there".
 */
export function ownDatabase(databaseUrl: string): { readonly adminUrl: string; readonly name: string } {
  const named = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
  const maintenance = named === '' || named === 'postgres' || named.startsWith('template');
  return { adminUrl: rewrite(databaseUrl, (url) => (url.pathname = '/postgres')), name: maintenance ? 'wts' : named };
}

/** Derived, so that everyone who may administer the server arrives at the same ones without a place to keep them. */
function rolePassword(options: Pick<ProvisionOptions, 'adminUrl' | 'fallbackKey'>, role: DatabaseRole): string {
  return createHmac('sha256', new URL(options.adminUrl).password || options.fallbackKey)
    .update(`wts role ${role}`)
    .digest('base64url');
}

async function connect(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'wts provision',
  });
  // A server that is killed under an idle client must not end this process: the next query reports it.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw explained(error, url);
  }
  return client;
}

async function refuseOldServer(admin: Client): Promise<void> {
  const { rows } = await admin.query<{ server_version: string }>('SHOW server_version');
  const version = rows[0]?.server_version ?? '0';
  if (Number.parseInt(version, 10) < POSTGRES_MAJOR_MIN)
    throw new Refusal(`This PostgreSQL server is version ${version}; ${POSTGRES_MAJOR_MIN} or newer is needed.`);
}

async function createDatabase(admin: Client, options: ProvisionOptions): Promise<void> {
  const known = await admin.query('SELECT FROM pg_database WHERE datname = $1', [options.name]);
  if (known.rowCount !== 0) return;
  const template = options.template === undefined ? '' : ` TEMPLATE ${escapeIdentifier(options.template)}`;
  await admin.query(`CREATE DATABASE ${escapeIdentifier(options.name)}${template}`);
}

function explained(error: unknown, url: string): Error {
  if (error instanceof Refusal) return error;
  const { host, username, pathname } = new URL(url);
  const code = (error as { code?: string }).code;
  const where = `The PostgreSQL server at ${host || 'its socket'}`;
  switch (code) {
    case '42501':
      return new Refusal(
        `The role "${decodeURIComponent(username)}" of DATABASE_URL may not set up the PostgreSQL server at ${host || 'its socket'}: ${textOf(error)}.\n` +
          'It needs a superuser, or a role with CREATEROLE and CREATEDB; or have an administrator run infra/postgres/roles.sql.',
      );
    case '28P01':
    case '28000':
      return new Refusal(`${where} refuses the credentials of DATABASE_URL: ${textOf(error)}.`);
    case '3D000':
      return new Refusal(
        `${where} has no database "${pathname.slice(1)}" to connect to for administration; give a DATABASE_URL whose role may connect to "postgres".`,
      );
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EHOSTUNREACH':
    case 'ETIMEDOUT':
    case 'EAI_AGAIN':
      return new Refusal(
        `${where} cannot be reached (${code}). Start it, correct DATABASE_URL, or unset it to use the server that comes with the dependencies.`,
      );
    default:
      return new Error(`${where} cannot be set up: ${textOf(error)}`, { cause: error });
  }
}

function rewrite(text: string, change: (url: URL) => void): string {
  const url = new URL(text);
  change(url);
  return url.href;
}
