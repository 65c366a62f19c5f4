/** `npm run verify:log`: audits a running system. Exits with 0 when every guarantee holds, otherwise with 1. */
import { streamOf } from '@wts/contracts';
import { optionsOrExit } from '@wts/local';
import { setTimeout as pause } from 'node:timers/promises';
import { connectTo } from '@wts/testkit';
import type { Client } from 'pg';
import { auditCopy, auditFollowers, auditNewCopy, loadCopy } from './audit-live.ts';
import { auditLog } from './audit-log.ts';
import { auditStream } from './audit-stream.ts';
import { connectToBroker } from './broker.ts';
import type { AuditFinding } from './finding.ts';
import { followByPolling, followBySocket, readPage, readSnapshot, type Follower } from './followers.ts';
import { numbersOf } from './numbers.ts';
import { isOutage } from './load/outage.ts';
import { OwnTasks } from './own-tasks.ts';
import { findSystem, type RunningSystem } from './running-system.ts';
import { rest } from './rest.ts';

const USAGE = `npm run verify:log [-- options]

  --seconds N    follow the log by sockets and polling for this time, default 10
  --sockets N    the number of sockets, default 4
  --writes N     write N tasks per second meanwhile, and delete them for good at the end; default none
  --follow       repeat until stopped; the exit code covers all rounds

It audits the system of npm start, or another one: BASE_URL, API_KEY, DATABASE_URL, NATS_URL,
and SHARD in another cell than the first one.`;

const CATCH_UP_MS = 15_000;
const RETRY_MS = 2_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

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
  const { follow, ...values } = optionsOrExit(USAGE, {
    seconds: { type: 'string', default: '10' },
    sockets: { type: 'string', default: '4' },
    writes: { type: 'string', default: '0' },
    follow: { type: 'boolean', default: false },
  });
  const options = numbersOf(values, { seconds: 0, sockets: 0, writes: 0 });
  const system = await findSystem(process.env);
  const tasks = new OwnTasks(system);
  let isPassed = true;
  try {
    if (!follow) isPassed = await verify(system, options, tasks);
    else while (!stopping.signal.aborted) isPassed = (await verifyOrWait(system, options, tasks)) && isPassed;
  } finally {
    const left = await tasks.remove();
    if (left > 0) {
      print(`left     ${left} tasks with the title "Written by verify:log" could not be deleted. Delete them by hand.`);
      isPassed = false;
    }
  }
  return isPassed;
}

/** With --follow the program outlives restarts of the system: it skips a round while the system is unavailable. */
async function verifyOrWait(system: RunningSystem, options: Options, tasks: OwnTasks): Promise<boolean> {
  try {
    return await verify(system, options, tasks);
  } catch (error) {
    if (!isOutage(error)) throw error;
    print(`down     the system is unavailable (${(error as Error).message}); trying again in ${RETRY_MS / 1000} s`);
    await rest(RETRY_MS, stopping.signal);
    return true;
  }
}

async function verify(system: RunningSystem, options: Options, tasks: OwnTasks): Promise<boolean> {
  await using client = await connectTo(system.databaseUrl, { connectionTimeoutMillis: 10_000 });
  await using nc = await connectToBroker(system.natsUrl);
  const copy = await loadCopy(system);
  const live = await followLive(system, client, options, tasks);
  const log = await auditLog(client);
  const stream = await auditStream(nc, client, { of: streamOf(system.shard) });
  const newCopy = await auditNewCopy(client, system, live.groups);
  const isSame = new Set(copy.groups).symmetricDifference(new Set(live.groups)).size === 0;
  const oldCopy = isSame ? await auditCopy(client, system, copy) : null;
  const findings = [log, stream, live, newCopy, ...(oldCopy ? [oldCopy] : [])].flatMap((audit) => audit.findings);
  print(`log      ${log.entries} entries, positions ${log.floor} to ${log.head}`);
  print(`series   ${log.series} that repeat by date`);
  print(`stream   ${stream.chunks} chunks`);
  print(`live     ${live.text}`);
  print(`new copy ${newCopy.records} records, loaded at the end`);
  if (oldCopy) print(`old copy ${oldCopy.records} records, loaded at the start and then updated from the log`);
  for (const { guarantee, seen } of findings) print(`BROKEN   ${guarantee}: ${seen}`);
  print(
    findings.length === 0
      ? 'Passed: nothing is missing, doubled or out of order.'
      : `FAILED: ${findings.length === 1 ? '1 finding' : `${findings.length} findings`}, see above.`,
  );
  return findings.length === 0;
}

interface LiveAudit {
  readonly groups: readonly string[];
  readonly text: string;
  readonly findings: readonly AuditFinding[];
}

async function followLive(
  system: RunningSystem,
  client: Client,
  { seconds, sockets, writes }: Options,
  tasks: OwnTasks,
): Promise<LiveAudit> {
  // A snapshot has a position and the groups, also when the start of the log was trimmed.
  const { lastSyncId: start, groups, rows } = await readSnapshot(system, ['Workspace']);
  await using stack = new AsyncDisposableStack();
  const followers: Follower[] = Array.from({ length: sockets }, (_, index) =>
    stack.use(followBySocket(system, `socket ${index + 1}`, start)),
  );
  followers.push(stack.use(followByPolling(system, 'poller', start)));
  const workspaceId = rows[0]?.id;
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs && !stopping.signal.aborted) {
    if (writes > 0) {
      if (workspaceId === undefined) throw new Error('--writes needs an API key of a member of a workspace.');
      await tasks.write(workspaceId);
    }
    await rest(writes > 0 ? 1000 / writes : 100, stopping.signal);
  }
  await tasks.remove();
  const upTo = BigInt(await headAfter(system, start));
  const deadlineMs = performance.now() + CATCH_UP_MS;
  while (followers.some(({ cursor }) => cursor() < upTo) && performance.now() < deadlineMs) await pause(50);

  const now = await readSnapshot(system, ['Workspace']);
  if (new Set(now.groups).symmetricDifference(new Set(groups)).size > 0) {
    return {
      groups: now.groups,
      text: 'not checked, because the memberships of the person changed meanwhile',
      findings: [],
    };
  }
  const received = followers[0]?.received.length ?? 0;
  const hint = received === 0 ? ' (nothing changed; add --writes 20 to write tasks)' : '';
  return {
    groups,
    text: `${received} entries to each of ${followers.length} followers${hint}`,
    findings: await auditFollowers(client, followers, { groups, after: BigInt(start), upTo }),
  };
}

async function headAfter(system: RunningSystem, start: string): Promise<string> {
  for (let after = start; ;) {
    const page = await readPage(system, after);
    after = page.lastSyncId;
    if (!page.hasMore) return after;
  }
}
