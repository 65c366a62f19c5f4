/**
 * `npm run soak [-- --minutes 10 --writers 8 --sockets 6 --replicas 2]`: a system of its own, people who write and listen,
 * and every process killed or put to sleep in turn, judged all the while. Ends with 0 when nothing was missing, doubled or
 * out of order, every acknowledged change is there, and memory is flat; with 1 otherwise, also when one of these could not
 * be shown.
 *
 * The first part of the time is stormy, for one whole turn of disturbances at least. The last part is calm and long enough
 * to judge memory, because only a process that lives can show a slope.
 */
import { startWorld, type World } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { auditReplica } from '../audit-live.ts';
import { auditLog } from '../audit-log.ts';
import { auditStream } from '../audit-stream.ts';
import { connectToBroker } from '../broker.ts';
import { numbersOrExit } from '../numbers.ts';
import { keepWriting } from '../storm/writers.ts';
import { Court } from './court.ts';
import { disturbancesOf } from './disturbances.ts';
import { Lives } from './lives.ts';
import { gather, headOf } from './people.ts';
import { CALM_MS_MIN, verdictOf } from './verdict.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    writers: { type: 'string', default: '8' },
    sockets: { type: 'string', default: '6' },
    replicas: { type: 'string', default: '2' },
  },
});
const STORMY_SHARE = 0.5;
/** Of each writer. When it is calm, a pace that any machine can keep: what recent entries take follows the pace. */
const WRITES_EVERY_MS = { stormy: 60, calm: 200 };
const COPIES_MAX = 3;
const JUDGE_EVERY_MS = 3_000;
const LOOK_EVERY_MS = 1_000;
const NEWS_EVERY_MS = 15_000;
const BETWEEN_MS = 4_000;
const CATCH_UP_MS = 60_000;

const asked = numbersOrExit(values, { minutes: 0, writers: 1, sockets: 0, replicas: 1 });
const beganMs = performance.now();
const say = (line: string): void => {
  const seconds = Math.floor((performance.now() - beganMs) / 1000);
  process.stdout.write(
    `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}  ${line}\n`,
  );
};

using lives = new Lives();
const world = await startWorld({
  label: 'soak',
  syncReplicas: asked.replicas,
  ownPostgres: true,
  wires: true,
  overrides: lives.overrides,
});
try {
  process.exitCode = (await soak(world, asked.minutes * 60_000)) ? 0 : 1;
} finally {
  await world.close();
}

async function soak(system: World, lastsMs: number): Promise<boolean> {
  const court = new Court(system);
  const stop = new AbortController();
  await using stack = new AsyncDisposableStack();
  let calmSinceMs: number | null = null;
  const scene = {
    world: system,
    court,
    start: await headOf(system),
    stop: stop.signal,
    isCalm: () => calmSinceMs !== null,
    stack,
  };
  const people = await gather(scene, asked.sockets);
  const writing = keepWriting(system, asked.writers, stop.signal, {
    everyMs: () => WRITES_EVERY_MS[calmSinceMs === null ? 'stormy' : 'calm'],
    copiesMax: COPIES_MAX,
    onAcknowledged: (answer) => court.acknowledge(answer),
  });
  const background = [
    every(JUDGE_EVERY_MS, stop.signal, async () => void (await court.sit())),
    every(LOOK_EVERY_MS, stop.signal, () => lives.look(system)),
    every(NEWS_EVERY_MS, stop.signal, async () => say(news(court))),
  ];
  const disturbing = disturbThenRest(system, lastsMs, () => (calmSinceMs = Date.now()));
  // Whoever fails ends the soak at once.
  await Promise.race([disturbing, writing, ...people, ...background]).finally(() => stop.abort());
  const disturbances = await disturbing;
  const { retries } = await writing;
  await Promise.all([...people, ...background]);
  await system.untilReady();
  await judgeTheEnd(system, court);

  const { isSound, lines } = verdictOf({
    acknowledged: court.acknowledged,
    retries,
    delivered: court.delivered,
    rounds: court.rounds,
    disturbances,
    findings: court.findings,
    calmSinceMs: calmSinceMs ?? Date.now(),
    processes: system.services.map(({ name }) => name),
    alive: lives.alive(),
    native: lives.native(),
    resident: [...lives.resident(), ...lives.nats()],
  });
  for (const line of lines) say(line);
  return isSound;
}

function news({ acknowledged, delivered, findings }: Court): string {
  const resident = [...lives.resident(), ...lives.nats()].map(
    ({ process: name, samples }) => [name, Math.round(samples.at(-1)?.megabytes ?? 0)] as const,
  );
  const megabytes = [...new Map(resident)].map((one) => one.join(' ')).join(', ');
  return `${acknowledged} acknowledged, ${delivered} heard, ${findings.length} findings; MB resident: ${megabytes}`;
}

/** Resolves to the number of disturbances, when the time is over and enough of it was calm. */
async function disturbThenRest(system: World, lastsMs: number, onCalm: () => unknown): Promise<number> {
  const turn = disturbancesOf(system);
  const startedMs = performance.now();
  const stormyMs = lastsMs - Math.max(lastsMs * (1 - STORMY_SHARE), CALM_MS_MIN);
  let count = 0;
  while (count < turn.length || performance.now() - startedMs < stormyMs) {
    const next = turn[count % turn.length];
    if (next === undefined) break;
    say(next.name);
    await next.happen();
    await system.untilReady();
    count += 1;
    await pause(BETWEEN_MS);
  }
  const calmMs = Math.max(lastsMs - (performance.now() - startedMs), CALM_MS_MIN);
  onCalm();
  say(`calm for ${Math.round(calmMs / 1000)} s, to see what memory does`);
  await pause(calmMs);
  return count;
}

async function judgeTheEnd(system: World, court: Court): Promise<void> {
  const client = new Client({ connectionString: system.database.url });
  await client.connect();
  const nc = await connectToBroker(system.nats.url);
  try {
    // Who left meanwhile is judged as of then.
    await court.sit();
    const log = await auditLog(client);
    const deadlineMs = performance.now() + CATCH_UP_MS;
    while (court.reached < log.head && performance.now() < deadlineMs) await pause(50);
    if (court.reached < log.head)
      court.report([
        { promise: 'nobody-stands-still', seen: `one is at ${court.reached}; the log has come to ${log.head}` },
      ]);
    if (!(await court.sit())) throw new Error('the log cannot be read at the end');
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

async function every(ms: number, stop: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    await pause(ms, undefined, { signal: stop }).catch(() => undefined);
    if (!stop.aborted) await work();
  }
}
