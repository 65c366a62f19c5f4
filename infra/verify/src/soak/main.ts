/**
 * `npm run soak [-- --minutes 10 --writers 8]`: a system of its own, people who write and listen, and every process killed or
 * put to sleep in turn, judged all the while. Ends with 0 when nothing was missing, doubled or out of order, every
 * acknowledged change is there, and memory is flat.
 *
 * The first part of the time is stormy; the last third is calm, because only a process that lives can show a slope.
 */
import { startWorld, type World } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connect } from 'nats';
import { Client } from 'pg';
import { auditReplica } from '../audit-live.ts';
import { auditLog } from '../audit-log.ts';
import { auditStream } from '../audit-stream.ts';
import { keepWriting } from '../storm/writers.ts';
import { Court } from './court.ts';
import { disturbancesOf } from './disturbances.ts';
import { Memory } from './memory.ts';
import { gather } from './people.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, writers: { type: 'string', default: '8' } },
});
const STORMY_SHARE = 0.6;
const WRITER_RESTS_MS = 25;
const JUDGE_EVERY_MS = 3_000;
const SAMPLE_EVERY_MS = 2_000;
const NEWS_EVERY_MS = 15_000;
const BETWEEN_MS = 4_000;
const CATCH_UP_MS = 60_000;

const beganMs = performance.now();
const say = (line: string): void => {
  const seconds = Math.floor((performance.now() - beganMs) / 1000);
  process.stdout.write(
    `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}  ${line}\n`,
  );
};

const world = await startWorld({ label: 'soak', syncReplicas: 2, ownPostgres: true });
try {
  process.exitCode = (await soak(world, Number(values.minutes) * 60_000)) ? 0 : 1;
} finally {
  await world.close();
}

async function soak(system: World, lastsMs: number): Promise<boolean> {
  const court = new Court(system);
  const memory = new Memory();
  const stop = new AbortController();
  await using hears = new AsyncDisposableStack();
  const people = await gather(system, court, stop.signal, hears);
  const writing = keepWriting(system, Number(values.writers), stop.signal, {
    restMs: WRITER_RESTS_MS,
    onAcknowledged: (answer) => court.acknowledge(answer),
  });
  const untilMs = performance.now() + lastsMs;
  const background = [
    every(JUDGE_EVERY_MS, stop.signal, async () => void (await court.sit())),
    every(SAMPLE_EVERY_MS, stop.signal, () => memory.sample(processesOf(system))),
    every(NEWS_EVERY_MS, stop.signal, async () =>
      say(
        `${court.acknowledged} written, ${court.delivered} delivered, ${court.findings.length} findings; MB: ${memory.latest()}`,
      ),
    ),
  ];
  const storm = disturb(system, performance.now() + lastsMs * STORMY_SHARE);
  // Whoever fails ends the soak at once.
  const calm = storm.then(() => pause(Math.max(0, untilMs - performance.now())));
  await Promise.race([calm, writing, ...background]).finally(() => stop.abort());
  const disturbances = await storm;
  const { retries } = await writing;
  await Promise.all([...people, ...background]);
  await system.untilReady();
  await judgeTheEnd(system, court);

  const slopes = memory.slopes();
  say(
    `${court.acknowledged} changes acknowledged (${retries} sent again), ${court.delivered} deliveries judged in ${court.rounds} rounds`,
  );
  say(`${disturbances} disturbances survived`);
  for (const { process: name, megabytes, perMinute, isFlat } of slopes) {
    const slope =
      perMinute === null ? 'too short a life to say' : `${perMinute.toFixed(2)} MB a minute${isFlat ? '' : ': GROWS'}`;
    say(`memory of ${name}: ${Math.round(megabytes)} MB, ${slope}`);
  }
  for (const finding of court.findings.slice(0, 50)) say(`BROKEN  ${finding}`);
  const isSound = court.findings.length === 0 && slopes.every(({ isFlat }) => isFlat);
  say(
    isSound ? 'Sound: nothing missing, doubled or out of order; memory is flat.' : `${court.findings.length} findings.`,
  );
  return isSound;
}

async function disturb(system: World, untilMs: number): Promise<number> {
  const turn = disturbancesOf(system);
  let count = 0;
  while (performance.now() < untilMs) {
    const next = turn[count % turn.length];
    if (next === undefined) break;
    say(next.name);
    await next.happen();
    await system.untilReady();
    count += 1;
    await pause(BETWEEN_MS);
  }
  if (count < turn.length) say(`the time was too short for a whole turn: ${count} of ${turn.length} disturbances`);
  return count;
}

async function judgeTheEnd(system: World, court: Court): Promise<void> {
  const client = new Client({ connectionString: system.database.url });
  await client.connect();
  const { hostname, port, username, password } = new URL(system.nats.url);
  const nc = await connect({
    servers: `${hostname}:${port}`,
    user: decodeURIComponent(username),
    pass: decodeURIComponent(password),
  });
  try {
    const log = await auditLog(client);
    const deadlineMs = performance.now() + CATCH_UP_MS;
    while (court.reached < log.head && performance.now() < deadlineMs) await pause(50);
    if (court.reached < log.head)
      court.findings.push(`somebody stands still at ${court.reached}; the log has come to ${log.head}`);
    if (!(await court.sit())) court.findings.push('the log cannot be read at the end');
    await court.findDoubled();
    const groups = [system.userId, system.workspaceId];
    court.report(log.findings);
    court.report((await auditStream(nc, client)).findings);
    court.report((await auditReplica(client, { baseUrl: system.baseUrl, token: system.apiKey }, groups)).findings);
  } finally {
    await nc.close();
    await client.end();
  }
}

function processesOf(system: World): { name: string; pid: number | null }[] {
  return [...system.services.map(({ name, pid }) => ({ name, pid })), { name: 'nats', pid: system.nats.pid() }];
}

async function every(ms: number, stop: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    await pause(ms, undefined, { signal: stop }).catch(() => undefined);
    if (!stop.aborted) await work();
  }
}
