/** `npm start`: runs the whole system on this machine until Ctrl-C. */
import type { NatsUser } from '@wts/contracts';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from '../bootstrap/lock.mjs';
import { readOptions } from './command-options.ts';
import { migrateServices } from './database/migrate.ts';
import type { Database } from './database/provision.ts';
import { ownDatabase, provision } from './database/provision.ts';
import { LOCAL, PATHS, ROOT, START_DIRECTORY } from './layout.ts';
import { endLeftovers } from './processes/leftovers.ts';
import { boundLogs } from './processes/logs.ts';
import { identityOf, isAlive } from './processes/identity.ts';
import type { Progress } from './progress.ts';
import { createProgress } from './progress.ts';
import { choosePorts } from './public-ports.ts';
import { UserError } from './user-error.ts';
import type { DemoWorkspace, Secrets } from './secrets.ts';
import { writeSecrets, readSecrets } from './secrets.ts';
import { openNats } from './servers/nats.ts';
import { checkNats } from './servers/nats-external.ts';
import { openPostgres, removePostgresData } from './servers/postgres.ts';
import type { CrashHandlers } from './servers/server-control.ts';
import { describeStack, readStackFile, removeStackFile, writeStackFile } from './stack-file.ts';
import { Stack } from './stack.ts';
import { runTask } from './task.ts';
import { openLocalWebhooks } from './webhooks.ts';
import { welcome } from './welcome.ts';

const USAGE = `npm start [-- options]

  --fresh              delete all local data, keys and logs first
  --sync-replicas N    run N sync services (default 1)
  --help               print this text

Environment variables: PORT (4000), AUTH_PORT (4001), DATABASE_URL and NATS_URL (your own servers),
PG_BIN and NATS_SERVER_BIN (your own programs), LOG_LEVEL, CORS_ORIGINS.`;

const LOGS_EVERY_MS = 60_000;
const OTHER_START_MS = 20_000;
const RESET_HINT = 'To delete this data and start with new data, run: npm start -- --fresh';

interface Options {
  readonly fresh: boolean;
  readonly syncReplicas: number;
}

await runTask(async (stack) => {
  const options = checkedOptions();
  if (options === null) return 0;
  const since = Date.now();
  const progress = createProgress(process.stdout);
  progress.print('\nWorkspace Task Service\n');
  prepareDirectory();
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
  const handlers = {
    onCrash: (text: string) => progress.print(`\n${text}`),
    onRestarted: (name: string) => {
      progress.print(`${name} runs again.`);
      writeFile();
    },
  };
  const servers = await openServers(stack, secrets, progress, handlers);
  const webhooks = await openLocalWebhooks(PATHS.webhooks);
  const services = await Stack.plan({
    webhookCaFile: webhooks.caFile,
    logs: PATHS.logs,
    records: PATHS.records,
    ...servers,
    secrets,
    ports,
    replicas: { sync: options.syncReplicas },
    restarts: true,
    env: process.env,
    overrides: { gateway: { GRAPHIQL: 'on' } },
    ...handlers,
  });
  const demo = await openServices(stack, services, progress);
  writeSecrets(PATHS.secrets, { ...readSecrets(PATHS.secrets), demo });
  writeFile = () =>
    writeStackFile(
      describeStack(services, demo, {
        jwtSecret: secrets.jwtSecret,
        databaseUrl: servers.database.adminUrl,
        natsUrl: servers.natsUrlOf('verify'),
        webhooks: { caFile: webhooks.caFile },
      }),
    );
  writeFile();
  stack.defer(removeStackFile);
  const boundingLogs = setInterval(() => boundLogs(PATHS.logs), LOGS_EVERY_MS);
  stack.defer(() => clearInterval(boundingLogs));
  progress.print(
    welcome(services, demo, { seconds: (Date.now() - since) / 1000, remarks: ports.remarks, logs: PATHS.logs }),
  );
  served = true;
  return 'until stopped';
});

function checkedOptions(): Options | null {
  const values = readOptions(USAGE, {
    fresh: { type: 'boolean', default: false },
    'sync-replicas': { type: 'string', default: '1' },
  });
  if (values === null) return null;
  const syncReplicas = Number(values['sync-replicas']);
  if (!Number.isInteger(syncReplicas) || syncReplicas < 1 || syncReplicas > 8)
    throw new UserError('--sync-replicas must be a whole number from 1 to 8.');
  return { fresh: values.fresh, syncReplicas };
}

function prepareDirectory(): void {
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
  if (process.env['DATABASE_URL']) {
    throw new UserError(
      '--fresh does not delete the database at DATABASE_URL. Drop it yourself, or unset DATABASE_URL.',
    );
  }
  if (existsSync(PATHS.postgres) || process.getuid?.() === 0) removePostgresData(PATHS.postgres, process.env);
  rmSync(START_DIRECTORY, { recursive: true, force: true });
  prepareDirectory();
}

async function openServers(
  stack: AsyncDisposableStack,
  secrets: Secrets,
  progress: Progress,
  handlers: CrashHandlers,
): Promise<{ database: Database; natsUrlOf: (user: NatsUser) => string }> {
  const common = { records: PATHS.records, env: process.env, ...handlers };
  const external = process.env['DATABASE_URL'] ? ownDatabase(process.env['DATABASE_URL']) : null;
  const database = await progress.step('PostgreSQL', async (note) => {
    if (external !== null) {
      note(`yours, at ${new URL(external.adminUrl).host}, database ${external.name}`);
      return provision({ ...external, fallbackKey: secrets.roleKey });
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
    writeSecrets(PATHS.secrets, { ...readSecrets(PATHS.secrets), postgresPort: server.port });
    note(`${server.version} from ${server.source}${server.isNew ? ', new data' : ''}`);
    return provision({ adminUrl: server.url(), name: 'wts', fallbackKey: secrets.roleKey });
  });
  const natsUrlOf = await progress.step('NATS', async (note) => {
    const own = process.env['NATS_URL'];
    if (own) {
      note(`yours, version ${await checkNats(own)}`);
      return () => own;
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
    writeSecrets(PATHS.secrets, { ...readSecrets(PATHS.secrets), natsPort: server.port });
    note(`${server.version} with JetStream from ${server.source}`);
    return server.urlOf;
  });
  await progress.step('Migrations', async (note) =>
    note((await migrateServices(database, process.env)).join(', ') || 'nothing new'),
  );
  return { database, natsUrlOf };
}

async function openServices(stack: AsyncDisposableStack, services: Stack, progress: Progress): Promise<DemoWorkspace> {
  stack.use(services);
  await progress.step('Services', async (note) => {
    await services.start();
    const ready: string[] = [];
    await services.untilReady(({ name }) => note([...ready, ready.push(name) ? name : ''].join(', ')));
  });
  return progress.step('Demo workspace', () => services.demo());
}

function ownerOf(path: string): string {
  try {
    return String(statSync(path).uid);
  } catch {
    return 'unknown';
  }
}
