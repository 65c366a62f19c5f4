/**
 * `npm run verify:log`: audits a running system and ends with 0 when everything holds, 1 when something does not.
 *
 *   -- --seconds 10    listen that long by sockets and pollers
 *   -- --sockets 4     so many sockets
 *   -- --writes 20     write so many tasks a second meanwhile, and delete them for good at the end (default none)
 *   -- --follow        again and again until stopped; then the code tells of all it has seen
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { auditCopy, auditListeners, auditNewcomer, loadCopy } from './audit-live.ts';
import { auditLog } from './audit-log.ts';
import { auditStream } from './audit-stream.ts';
import { connectToBroker } from './broker.ts';
import type { Finding } from './finding.ts';
import { listenByPolling, listenBySocket, readPage, readSnapshot, type Listener } from './listeners.ts';
import { numbersOf } from './numbers.ts';
import { isOutage } from './load/outage.ts';
import { OwnTasks } from './own-tasks.ts';
import { findSystem, type System } from './target.ts';

const CATCH_UP_MS = 15_000;
const LOOK_AGAIN_MS = 5_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

interface Options {
  readonly seconds: number;
  readonly sockets: number;
  readonly writes: number;
}

async function main(): Promise<boolean> {
  const {
    values: { follow, ...values },
  } = parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      sockets: { type: 'string', default: '4' },
      writes: { type: 'string', default: '0' },
      follow: { type: 'boolean', default: false },
    },
  });
  const options = numbersOf(values, { seconds: 0, sockets: 0, writes: 0 });
  const system = await findSystem(process.env);
  const tasks = new OwnTasks(system);
  let isSound = true;
  try {
    if (!follow) isSound = await verify(system, options, tasks);
    else while (!stopping.signal.aborted) isSound = (await verifyOrWait(system, options, tasks)) && isSound;
  } finally {
    const left = await tasks.remove();
    if (left > 0) {
      say(`left     ${left} tasks titled "Written by verify:log" that could not be deleted`);
      isSound = false;
    }
  }
  return isSound;
}

/** A process beside the system outlives its restarts: what is away is looked at when it is back. */
async function verifyOrWait(system: System, options: Options, tasks: OwnTasks): Promise<boolean> {
  try {
    return await verify(system, options, tasks);
  } catch (error) {
    if (!isOutage(error)) throw error;
    say(`away     ${(error as Error).message}`);
    await rest(LOOK_AGAIN_MS);
    return true;
  }
}

async function verify(system: System, options: Options, tasks: OwnTasks): Promise<boolean> {
  const client = new Client({ connectionString: system.databaseUrl, connectionTimeoutMillis: 10_000 });
  // Told by the query that is under way, or by the next one.
  client.on('error', () => {});
  await client.connect();
  const nc = await connectToBroker(system.natsUrl);
  try {
    const copy = await loadCopy(system);
    const live = await listen(system, client, options, tasks);
    const log = await auditLog(client);
    const stream = await auditStream(nc, client);
    const newcomer = await auditNewcomer(client, system, live.groups);
    const isSame = new Set(copy.groups).symmetricDifference(new Set(live.groups)).size === 0;
    const replica = isSame ? await auditCopy(client, system, copy) : null;
    const findings = [log, stream, live, newcomer, ...(replica ? [replica] : [])].flatMap((audit) => audit.findings);
    say(`log      ${log.entries} entries, ${log.floor}..${log.head}`);
    say(`stream   ${stream.chunks} chunks`);
    say(`live     ${live.words}`);
    say(`newcomer ${newcomer.records} records, loaded and followed`);
    if (replica) say(`replica  ${replica.records} records, loaded before and followed since`);
    for (const { promise, seen } of findings) say(`BROKEN   ${promise}: ${seen}`);
    say(findings.length === 0 ? 'Sound: nothing missing, doubled or out of order.' : `${findings.length} findings.`);
    return findings.length === 0;
  } finally {
    await nc.close();
    await client.end();
  }
}

interface Received {
  readonly groups: readonly string[];
  readonly words: string;
  readonly findings: readonly Finding[];
}

async function listen(
  system: System,
  client: Client,
  { seconds, sockets, writes }: Options,
  tasks: OwnTasks,
): Promise<Received> {
  // Also where the log has lost its beginning, a snapshot says where one stands and what one may hear.
  const { lastSyncId: start, groups, rows } = await readSnapshot(system, ['Workspace']);
  await using stack = new AsyncDisposableStack();
  const listeners: Listener[] = Array.from({ length: sockets }, (_, index) =>
    stack.use(listenBySocket(system, `socket ${index + 1}`, start)),
  );
  listeners.push(stack.use(listenByPolling(system, 'poller', start)));
  const workspaceId = rows[0]?.id;
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs && !stopping.signal.aborted) {
    if (writes > 0) {
      if (workspaceId === undefined) throw new Error('--writes needs the credential of a member of a workspace.');
      await tasks.write(workspaceId);
    }
    await rest(writes > 0 ? 1000 / writes : 100);
  }
  await tasks.remove();
  const upTo = BigInt(await headAfter(system, start));
  const deadlineMs = performance.now() + CATCH_UP_MS;
  while (listeners.some(({ at }) => at() < upTo) && performance.now() < deadlineMs) await pause(50);

  const now = await readSnapshot(system, ['Workspace']);
  if (new Set(now.groups).symmetricDifference(new Set(groups)).size > 0) {
    return {
      groups: now.groups,
      words: 'not checked: the memberships of the listener changed in the meantime',
      findings: [],
    };
  }
  const received = listeners[0]?.received.length ?? 0;
  const hint = received === 0 ? ' (no changes came; --writes 20 makes some)' : '';
  return {
    groups,
    words: `${received} entries to each of ${listeners.length} listeners${hint}`,
    findings: await auditListeners(client, listeners, groups, BigInt(start), upTo),
  };
}

async function headAfter(system: System, start: string): Promise<string> {
  for (let after = start; ;) {
    const page = await readPage(system, after);
    after = page.lastSyncId;
    if (!page.hasMore) return after;
  }
}

async function rest(ms: number): Promise<void> {
  await pause(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
}
