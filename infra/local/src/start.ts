/** `npm start`: runs the whole system on this machine until Ctrl-C. */
import type { NatsUser } from '@wts/contracts';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from '../bootstrap/lock.mjs';
import { buildOfCheckout } from './build.ts';
import { openCell } from './cells.ts';
import { readOptions } from './command-options.ts';
import { migrateServices } from './database/migrate.ts';
import { ownDatabase, provision, type Database, type ProvisionOptions } from './database/provision.ts';
import { requireAuthData } from './database/require-auth-data.ts';
import { LOCAL, PATHS, ROOT, START_DIRECTORY } from './layout.ts';
import { DiskWatch, refuseFullDisk } from './processes/disk.ts';
import { endLeftovers } from './processes/leftovers.ts';
import { boundLogs } from './processes/logs.ts';
import { refuseFewFiles } from './processes/open-files.ts';
import { identityOf, isAlive } from './processes/identity.ts';
import { createProgress, type Progress } from './progress.ts';
import { choosePorts } from './public-ports.ts';
import { UserError } from './user-error.ts';
import { writeSecrets, readSecrets, type DemoWorkspace, type Secrets } from './secrets.ts';
import { openMailCatcher } from './mail/catcher.ts';
import { openObserver } from './observe/observer.ts';
import { openNats } from './servers/nats.ts';
import { checkNats } from './servers/nats-external.ts';
import { openPostgres, removePostgresData } from './servers/postgres.ts';
import type { CrashHandlers, ServerControl } from './servers/server-control.ts';
import { describeStack, readStackFile, removeStackFile, writeStackFile } from './stack-file.ts';
import { Stack } from './stack.ts';
import { runTask } from './task.ts';
import { openLocalWebhooks } from './webhooks.ts';
import { welcome } from './welcome.ts';

/** A front end in development has a server and a port of its own. */
const PAGES_OF_THIS_MACHINE = 'http://localhost:*,http://127.0.0.1:*';

const USAGE = `npm start [-- options]

  --fresh              delete all local data, keys and logs first
  --auth-database      keep what auth stores in a database of its own, on the same server; give it at each start
  --sync-replicas N    run N sync services (default 1)
  --cells 2            run two cells with one auth, which then has a database of its own; give it at each start
  --observe            show figures and traces of every request on a page
  --version            print the version and the commit
  --help               print this text

Environment variables: PORT (4000), AUTH_PORT (4001), DATABASE_URL, AUTH_DATABASE_URL,
NATS_URL and SMTP_URL (your own servers; without AUTH_DATABASE_URL auth uses the same database as the others),
PG_BIN and NATS_SERVER_BIN (your own programs), LOG_LEVEL, CORS_ORIGINS (web pages that may call the API;
default ${PAGES_OF_THIS_MACHINE}).`;

const LOGS_EVERY_MS = 60_000;
/** Together with the time to notice it, under five seconds after the disk is full. */
const SERVICES_STOP_MS = 1_000;
const SERVERS_STOP_MS = 2_000;
const OTHER_START_MS = 20_000;
const RESET_HINT = 'To delete this data and start with new data, run: npm start -- --fresh';

interface Options {
  readonly fresh: boolean;
  readonly authDatabase: boolean;
  readonly syncReplicas: number;
  readonly cells: number;
  readonly observe: boolean;
}

await runTask(async (stack, { stopping, fail }) => {
  const options = checkedOptions();
  if (options === null) return 0;
  refuseFewFiles();
  const since = Date.now();
  const progress = createProgress(process.stdout);
  const build = buildOfCheckout(process.env);
  progress.print(`\n${titleOf(build)}\n`);
  prepareDirectory(options.fresh);
  stack.defer(await lockStart());
  let served = false;
  stack.defer(() => {
    if (served) progress.print('Everything has stopped.');
  });
  await cleanUp(options.fresh, progress);

  const ports = await choosePorts(process.env);
  const secrets = readSecrets(PATHS.secrets);
  writeSecrets(PATHS.secrets, secrets);
  // The stack file has process ids, so it is written again after a restart. It is not written before the system is ready.
  let writeFile = () => {};
  const disk = stack.use(new DiskWatch(fail));
  disk.add(START_DIRECTORY);
  const handlers = crashHandlers(progress, {
    onRestarted: () => orFail(fail, writeFile),
    mayRestart: () => !stopping.aborted && !disk.isFull(),
  });
  const servers = await openServers(stack, { secrets, progress, handlers, hasAuthDatabase: options.authDatabase });
  for (const { data } of servers.own) if (data !== undefined) disk.add(data);
  const webhooks = await openLocalWebhooks(PATHS.webhooks);
  const mail = process.env['SMTP_URL'] ? null : stack.use(await openMailCatcher({ port: ports.mail }));
  const observer = options.observe ? stack.use(await openObserver(ports.observe)) : null;
  const settings = { BUILD_COMMIT: build.commit, ...observer?.settings };
  const plan = { ...planOf(options, settings), webhookCaFile: webhooks.caFile, ...mailOf(mail), secrets, ...handlers };
  const services = await Stack.plan({ ...plan, ...servers, ports });
  const openSecond = () => openCell(stack, { first: services, beside: servers.beside, plan });
  const cells = options.cells === 1 ? [] : [await progress.step('Second cell', openSecond)];
  const stacks: [Stack, ...Stack[]] = [services, ...cells.map((cell) => cell.services)];
  observer?.watch(stacks.flatMap(metricsOf));
  const demo = await openServices(stack, stacks, progress);
  writeSecrets(PATHS.secrets, { ...readSecrets(PATHS.secrets), demo });
  const mailUrl = mail?.url ?? null;
  writeFile = () => {
    const { adminUrl: databaseUrl, authAdminUrl: authDatabaseUrl } = servers.database;
    const around = {
      jwtSecret: secrets.jwtSecret,
      databaseUrl,
      authDatabaseUrl,
      natsUrl: servers.natsUrlOf('verify'),
      mailUrl,
    };
    writeStackFile(describeStack(services, cells, demo, { ...around, webhooks: { caFile: webhooks.caFile } }));
  };
  writeFile();
  stack.defer(removeStackFile);
  keepLogsBounded(stack, fail);
  const around = { remarks: ports.remarks, logs: PATHS.logs, mailUrl, observeUrl: observer?.url ?? null };
  progress.print(welcome(stacks, demo, { seconds: (Date.now() - since) / 1000, ...around }));
  served = true;
  // Runs first of all that the stack has.
  stack.defer(async () => {
    if (disk.isFull()) await stopAtOnce(stacks, [...servers.own, ...cells.flatMap(({ nats }) => nats ?? [])]);
  });
  return 'until stopped';
});

/** What all cells have in common. */
function planOf({ syncReplicas }: Options, settings: Readonly<Record<string, string>>) {
  return {
    logs: PATHS.logs,
    records: PATHS.records,
    replicas: { sync: syncReplicas },
    restarts: true,
    metrics: true,
    env: { ...process.env, ...settings },
    overrides: { gateway: { GRAPHIQL: 'on', CORS_ORIGINS: process.env['CORS_ORIGINS'] ?? PAGES_OF_THIS_MACHINE } },
  };
}

function mailOf(mail: { readonly smtpUrl: string } | null): { readonly smtpUrl?: string } {
  return mail === null ? {} : { smtpUrl: mail.smtpUrl };
}

function metricsOf(stack: Stack): { readonly name: string; readonly metricsUrl: string }[] {
  return stack.services.map(({ name }) => ({ name, metricsUrl: stack.metricsUrlOf(name) ?? '' }));
}

function keepLogsBounded(stack: AsyncDisposableStack, fail: (error: unknown) => void): void {
  const bounding = setInterval(() => orFail(fail, () => boundLogs(PATHS.logs)), LOGS_EVERY_MS);
  stack.defer(() => clearInterval(bounding));
}

function crashHandlers(
  progress: Progress,
  { onRestarted, mayRestart }: { readonly onRestarted: () => void; readonly mayRestart: () => boolean },
): CrashHandlers {
  return {
    onCrash: (text) => progress.print(`\n${text}`),
    onRestarted: (name) => {
      progress.print(`${name} runs again.`);
      onRestarted();
    },
    mayRestart,
  };
}

/** What cannot be written must not end this process without a sentence. */
function orFail(fail: (error: unknown) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    fail(error);
  }
}

/** On a full disk requests wait for what cannot be written. What was confirmed is in the log of PostgreSQL. */
async function stopAtOnce(stacks: readonly Stack[], servers: readonly OwnServer[]): Promise<void> {
  await Promise.all(stacks.flatMap(({ services }) => services).map((service) => service.stop(SERVICES_STOP_MS)));
  await Promise.all(servers.map((server) => server.stop(SERVERS_STOP_MS)));
}

function checkedOptions(): Options | null {
  const values = readOptions(USAGE, {
    fresh: { type: 'boolean', default: false },
    version: { type: 'boolean', default: false },
    'auth-database': { type: 'boolean', default: false },
    'sync-replicas': { type: 'string', default: '1' },
    cells: { type: 'string', default: '1' },
    observe: { type: 'boolean', default: false },
  });
  if (values === null) return null;
  if (values.version) {
    console.log(titleOf(buildOfCheckout(process.env)));
    return null;
  }
  const syncReplicas = Number(values['sync-replicas']);
  if (!Number.isInteger(syncReplicas) || syncReplicas < 1 || syncReplicas > 8)
    throw new UserError('--sync-replicas must be a whole number from 1 to 8.');
  const cells = Number(values.cells);
  if (cells !== 1 && cells !== 2) throw new UserError('--cells must be 1 or 2.');
  const authDatabase = values['auth-database'] || cells > 1;
  return { fresh: values.fresh, authDatabase, syncReplicas, cells, observe: values.observe };
}

function titleOf({ version, commit }: ReturnType<typeof buildOfCheckout>): string {
  return `Workspace Task Service ${version} (${commit})`;
}

function prepareDirectory(isToBeDeleted: boolean): void {
  try {
    mkdirSync(START_DIRECTORY, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT')
      throw new UserError(`The disk of ${ROOT} is full. Free some space and start again.`);
    throw new UserError(
      `${LOCAL} is not writable (${code}). Its owner is user id ${ownerOf(LOCAL)}.\nStart as that user, or change the owner of the folder.`,
    );
  }
  // Deleting its data frees space.
  if (!isToBeDeleted) refuseFullDisk(START_DIRECTORY);
}

/** Takes the lock of `npm start`. It fails when another start is running, and waits for one that is starting or stopping. */
async function lockStart(): Promise<() => void> {
  const deadline = Date.now() + OTHER_START_MS;
  const own = identityOf(process.pid) ?? { pid: process.pid, startMark: '' };
  for (;;) {
    const owner = tryLock(PATHS.lock, own, (other) => !isAlive(other));
    if (owner === null) return () => rmSync(PATHS.lock, { force: true });
    const running = readStackFile();
    if (running !== null || Date.now() > deadline) {
      const state = running === null ? 'is already starting' : `is already running at ${running.baseUrl}`;
      throw new UserError(
        `The service ${state} (process ${owner.pid}).\nStop it with Ctrl-C in its terminal, or run: kill ${owner.pid}`,
      );
    }
    await sleep(100);
  }
}

/** Ends the processes of an earlier start that was killed, and with `--fresh` deletes all data. */
async function cleanUp(fresh: boolean, progress: Progress): Promise<void> {
  removeStackFile();
  const ended = await endLeftovers(PATHS.records);
  if (ended.length > 0) progress.print(`  Stopped processes that an earlier start left running: ${ended.join(', ')}.`);
  if (!fresh) return;
  for (const variable of ['DATABASE_URL', 'AUTH_DATABASE_URL']) {
    if (process.env[variable]) {
      throw new UserError(
        `--fresh does not delete the database at ${variable}. Drop it yourself, or unset ${variable}.`,
      );
    }
  }
  if (existsSync(PATHS.postgres) || process.getuid?.() === 0) removePostgresData(PATHS.postgres, process.env);
  rmSync(START_DIRECTORY, { recursive: true, force: true });
  prepareDirectory(false);
}

/** The database of auth: at AUTH_DATABASE_URL, with the option one beside that of the others, else that of the others. */
function withAuth(options: ProvisionOptions, hasAuthDatabase: boolean): ProvisionOptions {
  const { adminUrl, name } = options;
  const given = process.env['AUTH_DATABASE_URL'];
  if (given) return { ...options, auth: ownDatabase(given, 'wts_auth') };
  return hasAuthDatabase ? { ...options, auth: { adminUrl, name: `${name}_auth` } } : options;
}

type OwnServer = ServerControl & {
  /** Where its data is, when that may be on another disk. */
  readonly data?: string;
};

interface Servers {
  readonly database: Database;
  /** Where it is, for one beside it. */
  readonly beside: ProvisionOptions;
  readonly natsUrlOf: (user: NatsUser) => string;
  /** Those that this process runs. */
  readonly own: readonly OwnServer[];
}

interface Opening {
  readonly secrets: Secrets;
  readonly progress: Progress;
  readonly handlers: CrashHandlers;
  readonly hasAuthDatabase: boolean;
}

async function openServers(
  stack: AsyncDisposableStack,
  { secrets, progress, handlers, hasAuthDatabase }: Opening,
): Promise<Servers> {
  const common = { records: PATHS.records, env: process.env, ...handlers };
  const own: OwnServer[] = [];
  const external = process.env['DATABASE_URL'] ? ownDatabase(process.env['DATABASE_URL'], 'wts') : null;
  const { database, beside } = await progress.step('PostgreSQL', async (note) => {
    if (external !== null) {
      const { host } = new URL(external.adminUrl);
      note(`yours, at ${host}, database ${external.name}`);
      const yours = withAuth({ ...external, fallbackKey: secrets.roleKey }, hasAuthDatabase);
      const provisioned = await provision(yours);
      if (provisioned.isNew) note(`yours, at ${host}, created database ${external.name}`);
      return { database: provisioned, beside: yours };
    }
    const server = stack.use(
      await openPostgres({
        ...common,
        directory: PATHS.postgres,
        log: join(PATHS.logs, 'postgres.log'),
        password: secrets.postgresPassword,
        port: secrets.postgresPort,
        resetHint: RESET_HINT,
      }),
    );
    own.push(server);
    writeSecrets(PATHS.secrets, { ...readSecrets(PATHS.secrets), postgresPort: server.port });
    note(`${server.version} from ${server.source}${server.isNew ? ', new data' : ''}`);
    const ours = withAuth({ adminUrl: server.url(), name: 'wts', fallbackKey: secrets.roleKey }, hasAuthDatabase);
    return { database: await provision(ours), beside: ours };
  });
  const natsUrlOf = await progress.step('NATS', async (note) => {
    const natsUrl = process.env['NATS_URL'];
    if (natsUrl) {
      note(`yours, version ${await checkNats(natsUrl)}`);
      return () => natsUrl;
    }
    const server = stack.use(
      await openNats({
        ...common,
        directory: PATHS.nats,
        log: join(PATHS.logs, 'nats.log'),
        password: secrets.natsPassword,
        port: secrets.natsPort,
      }),
    );
    own.push(server);
    writeSecrets(PATHS.secrets, { ...readSecrets(PATHS.secrets), natsPort: server.port });
    note(`${server.version} with JetStream from ${server.source}`);
    return server.urlOf;
  });
  await progress.step('Migrations', async (note) =>
    note((await migrateServices(database, process.env)).join(', ') || 'nothing new'),
  );
  await requireAuthData(database, RESET_HINT);
  return { database, beside, natsUrlOf, own };
}

async function openServices(
  stack: AsyncDisposableStack,
  stacks: readonly [Stack, ...Stack[]],
  progress: Progress,
): Promise<DemoWorkspace> {
  for (const services of stacks) stack.use(services);
  await progress.step('Services', async (note) => {
    for (const services of stacks) await services.start();
    const ready: string[] = [];
    for (const services of stacks)
      await services.untilReady(({ name }) => note([...ready, ready.push(name) ? name : ''].join(', ')));
  });
  return progress.step('Demo workspace', () => stacks[0].demo());
}

function ownerOf(path: string): string {
  try {
    return String(statSync(path).uid);
  } catch {
    return 'unknown';
  }
}
