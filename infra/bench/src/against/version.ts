import { freePort, launch, UserError, type RunningProcess } from '@wts/local';
import type { Issuer } from '@wts/testkit';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WITHOUT_RATE_LIMITS } from '../system.ts';
import { peopleOf } from '../people.ts';
import type { Target } from '../target.ts';
import { mutate, openClients } from '../traffic.ts';

/** The first start installs dependencies, which takes about half a minute for each version. */
const READY_MS = 600_000;
const STOP_MS = 60_000;
const POLL_MS = 100;
const SEED_BATCH = 50;
const LOG_LINES = 30;
/** Each version has servers of its own, and the settings of the benchmarks where `npm start` passes them on. */
const OWN_SERVERS = ['DATABASE_URL', 'NATS_URL', 'NODE_OPTIONS'];
const SETTINGS = { LOG_LEVEL: 'warn', CHECK_REPLIES: 'off', RATE_LIMITS: WITHOUT_RATE_LIMITS };

/** A whole system of one commit, used through its public interface and `stack.json`. */
export interface Version extends Target {
  readonly databaseUrl: string;
  /** The process whose descendants are the system. */
  readonly rootPid: number;
}

/** The parts of `stack.json` that every version has had. */
interface StackFile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly userId: string;
  readonly workspaceId: string;
  readonly databaseUrl: string;
  readonly jwt: Issuer;
  readonly services: { readonly [name: string]: { readonly pid: number | null; readonly log: string } };
}

/** Runs `npm start` in a checkout, which installs its dependencies. The stack stops it. */
export async function startVersion(
  stack: AsyncDisposableStack,
  { name, folder, caFile }: { readonly name: string; readonly folder: string; readonly caFile: string },
): Promise<Version> {
  const log = join(folder, '..', `${name.replaceAll(/\W/g, '-')}.log`);
  const [port, authPort] = [await freePort(), await freePort()];
  const env = Object.fromEntries(Object.entries(process.env).filter(([variable]) => !OWN_SERVERS.includes(variable)));
  const system = await launch({
    name,
    command: process.execPath,
    args: [join(folder, 'infra', 'local', 'bootstrap.mjs'), 'start'],
    cwd: folder,
    env: { ...env, ...SETTINGS, WEBHOOK_EXTRA_CA_FILE: caFile, PORT: String(port), AUTH_PORT: String(authPort) },
    log,
    channel: true,
    background: true,
  });
  stack.defer(async () => void (await system.stop('SIGTERM', STOP_MS)));
  const file = join(folder, '.local', 'stack.json');
  await untilReady(system, file);
  return versionOf(name, system.pid, async () => JSON.parse(await readFile(file, 'utf8')) as StackFile);
}

async function untilReady(system: RunningProcess, file: string): Promise<void> {
  const until = performance.now() + READY_MS;
  while (!existsSync(file)) {
    if (system.exit !== null || performance.now() > until) {
      const lines = (await readFile(system.log, 'utf8')).trimEnd().split('\n').slice(-LOG_LINES).join('\n');
      throw new UserError(`${system.name} did not start:\n${lines}`);
    }
    await pause(POLL_MS);
  }
}

/** From the content of its `stack.json`. */
export async function versionOf(name: string, rootPid: number, read: () => Promise<StackFile>): Promise<Version> {
  const { baseUrl, apiKey, userId, workspaceId, databaseUrl, jwt, services } = await read();
  const version: Version = {
    name,
    rootPid,
    baseUrl,
    apiKey,
    userId,
    workspaceId,
    databaseUrl,
    processes: () =>
      ['gateway', 'sync'].map((service) => {
        const { pid = null, log = '' } = services[service] ?? {};
        if (pid === null) throw new Error(`${service} of ${name} has exited; its log is ${log}`);
        return { name: service, pid, log };
      }),
    log: { table: 'sync.sync_actions', positionColumn: 'sync_id' },
    people: (count) => peopleOf({ baseUrl, jwt }, count),
    seedTasks: async (count) => void (await write(version, count)),
    growLog: async (entries) => ({
      entries,
      groups: [workspaceId],
      from: await write(version, entries),
      reader: version,
    }),
  };
  return version;
}

/** Writes so many tasks through the API. Resolves to the position before them. */
async function write(version: Version, count: number): Promise<bigint> {
  await using pool = openClients(version.baseUrl, 1);
  const { lastSyncId } = await mutate(pool, version, 1);
  for (let left = count; left > 0; left -= SEED_BATCH) await mutate(pool, version, Math.min(left, SEED_BATCH));
  return BigInt(lastSyncId);
}
