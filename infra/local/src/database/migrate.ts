import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join, parse, relative } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, serviceFile, sourceOf, type ProgramOf, type ServiceScript } from '../layout.ts';
import { UserError, indented } from '../user-error.ts';
import { PASSED_THROUGH, SERVICES, type ServiceSpec } from '../services.ts';
import { connectTo } from './connect.ts';
import type { Database } from './provision.ts';

const MIGRATE_MS = 120_000;
const CONNECT_MS = 10_000;
const run = promisify(execFile);

/** Migrates the schema of every service with its own role. Resolves to the names of the services that had new migrations. */
export async function migrateServices(
  database: Database,
  env: NodeJS.ProcessEnv,
  programOf = sourceOf,
): Promise<string[]> {
  const migrated = new Map<string, Promise<string[]>>();
  for (const service of SERVICES) {
    const first = (service.database?.migratesAfter ?? []).flatMap((name) => migrated.get(name) ?? []);
    migrated.set(service.name, migrateService(service, database, env, { first, programOf }));
  }
  const names = (await Promise.all(migrated.values())).flat();
  if (LOG_GAP > 0 && names.includes('sync')) await leaveGaps(database.urlOf('wts_sync'), LOG_GAP);
  return names;
}

/**
 * TEST_LOG_GAP=5000 npm test (or `npm start -- --fresh`, `npm run soak`): each commit leaves a gap of up to so many positions, so
 * everything that relies on dense positions fails. The first partition is made large, since tests commit without maintenance.
 */
const LOG_GAP = Number(process.env['TEST_LOG_GAP'] ?? 0);

/** TEST_AUTH_APART=1 npm test: auth has a database of its own, so what reads its tables from elsewhere fails, and the reverse. */
export const IS_AUTH_APART = process.env['TEST_AUTH_APART'] === '1';

async function leaveGaps(url: string, gap: number): Promise<void> {
  await using client = await connectTo(url, { connectionTimeoutMillis: CONNECT_MS });
  await client.query('update sync.log_state set gap_max = $1', [gap]);
  await client.query(`drop table sync.sync_actions_0;
    create table sync.sync_actions_0 partition of sync.sync_actions for values from (0) to (1000000000000)`);
}

async function migrateService(
  { name, database: use }: ServiceSpec,
  database: Database,
  env: NodeJS.ProcessEnv,
  { first, programOf }: { readonly first: readonly Promise<unknown>[]; readonly programOf: ProgramOf },
): Promise<string[]> {
  if (!use?.schema) return [];
  const url = database.urlOf(use.role);
  if (await isUpToDate(name, url)) return [];
  await Promise.all(first);
  const program = await programOf(name);
  await runProgram(name, program, { ...picked(env, PASSED_THROUGH), DATABASE_URL: url }, ['migrate']);
  return [name];
}

/** Compares the names of the migrations, as the migration runner does. This saves a process per service on later starts. */
async function isUpToDate(service: string, url: string): Promise<boolean> {
  const wanted = globSync(`services/${service}/src/migrations/[0-9]*.ts`, { cwd: ROOT }).map(
    (file) => parse(file).name,
  );
  try {
    await using client = await connectTo(url, { connectionTimeoutMillis: CONNECT_MS });
    const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations');
    const applied = new Set(rows.map((row) => row.name));
    return wanted.every((name) => applied.has(name));
  } catch {
    // There is no table yet, or the migration will report a clearer error.
    return false;
  }
}

/** Runs a script of a service and resolves to its output. When it fails, the error has the last lines of the output. */
export function runScript(
  service: string,
  file: ServiceScript,
  env: NodeJS.ProcessEnv,
  args: readonly string[] = [],
): Promise<string> {
  return runProgram(service, serviceFile(service, file), env, args);
}

async function runProgram(
  service: string,
  program: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<string> {
  try {
    const { stdout } = await run(process.execPath, [program, ...args], {
      cwd: join(ROOT, 'services', service),
      env,
      timeout: MIGRATE_MS,
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '', code } = error as { stdout?: string; stderr?: string; code?: number | string };
    const lines = `${stdout}\n${stderr}`.trim().split('\n').slice(-20).join('\n');
    const what = `${relative(ROOT, program)} failed (${code ?? 'killed'})`;
    throw new UserError(`${what}:\n${indented(lines)}`, { cause: error });
  }
}

/**
 * A hash of everything that determines the migrated database and the demo data. It is part of the names of the templates that tests
 * copy.
 */
export function templatesHash(): string {
  return (hashOfTemplates ??= computeTemplatesHash());
}

/** A test process copies hundreds of databases, and reads the files once. */
let hashOfTemplates: string | undefined;

function computeTemplatesHash(): string {
  const hash = createHash('sha256').update(`${LOG_GAP} ${IS_AUTH_APART}`);
  const patterns = [
    'infra/postgres/*.sql',
    'services/*/src/main.ts',
    'services/*/src/migrations/*.ts',
    'services/*/src/store/*.ts',
    'services/*/src/seed.ts',
    'services/{auth,workspace}/src/{commands,domain}/*.ts',
    'services/{auth,workspace,sync}/src/config.ts',
    'services/auth/src/accounts/*.ts',
    'services/sync/src/commit/**/*.ts',
    'infra/local/src/{secrets,stack}.ts',
    'packages/{access,contracts}/src/**/*.ts',
    'packages/models/src/**/*.ts',
    'packages/service-kit/src/**/*.ts',
  ];
  for (const pattern of patterns) {
    const all = globSync(pattern, { cwd: ROOT }).sort();
    const files = all.filter((file) => !file.endsWith('.test.ts'));
    // After a move of these files the hash would not change with them, and tests would copy an outdated template.
    if (files.length === 0)
      throw new Error(`${pattern} matches no file. List the files that migrations and seeds use.`);
    for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

export function picked(env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
