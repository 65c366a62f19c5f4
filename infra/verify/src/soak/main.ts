/**
 * `npm run soak [-- --minutes 10 --writers 8 --sockets 6 --replicas 2]`: a system of its own, people who write and listen,
 * and every process killed or put to sleep in turn, judged all the while. Ends with 0 when nothing was missing, doubled or
 * out of order, every acknowledged change is there, and memory is flat; with 1 otherwise, also when one of these could not
 * be shown.
 *
 * The first part of the time is stormy, for one whole turn of disturbances at least. The last part is calm and long enough
 * to judge memory, because only a process that lives can show a slope.
 *
 * With `--hostile`, attackers of every kind are at work for all of the minutes, beside the disturbances that fit; the calm
 * part follows. An honest person must not be refused while nothing is away, and no log may hold what records say.
 */
import { startTestSystem, type TestSystem } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { auditCopy, loadCopy, type Copy } from '../audit-live.ts';
import { auditLog } from '../audit-log.ts';
import { auditStream } from '../audit-stream.ts';
import { connectToBroker } from '../broker.ts';
import type { Finding } from '../finding.ts';
import { rest } from '../hostile/attacker.ts';
import { numbersOrExit } from '../numbers.ts';
import { keepWriting } from '../load/writers.ts';
import { DeliveryCheck } from './delivery-check.ts';
import { disturbancesOf } from './disturbances.ts';
import { contentInLogs, Hostility } from './hostility.ts';
import { ProcessMemory } from './process-memory.ts';
import { gather, headOf } from './people.ts';
import { CALM_MS_MIN, verdictOf } from './verdict.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    writers: { type: 'string', default: '8' },
    sockets: { type: 'string', default: '6' },
    replicas: { type: 'string', default: '2' },
    hostile: { type: 'boolean', default: false },
  },
});
const { hostile: isHostile, ...numbers } = values;
const STORMY_SHARE = 0.5;
/** Of each writer. When it is calm, a pace that any machine can keep: what recent entries take follows the pace. */
const WRITES_EVERY_MS = { stormy: 60, calm: 200 };
const COPIES_MAX = 3;
const JUDGE_EVERY_MS = 3_000;
const LOOK_EVERY_MS = 1_000;
const NEWS_EVERY_MS = 15_000;
const BETWEEN_MS = 4_000;
/** Most of the time nothing is away: then nobody may be refused. */
const BETWEEN_HOSTILE_MS = 15_000;
const CATCH_UP_MS = 60_000;

const asked = numbersOrExit(numbers, { minutes: 0, writers: 1, sockets: 0, replicas: 1 });
const beganMs = performance.now();
const say = (line: string): void => {
  const seconds = Math.floor((performance.now() - beganMs) / 1000);
  process.stdout.write(
    `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}  ${line}\n`,
  );
};

using memory = new ProcessMemory();
const testSystem = await startTestSystem({
  label: 'soak',
  syncReplicas: asked.replicas,
  ownPostgres: true,
  wires: true,
  overrides: memory.overrides,
});
try {
  process.exitCode = (await soak(testSystem, asked.minutes * 60_000)) ? 0 : 1;
} catch (error) {
  process.exitCode = 1;
  console.error(error);
  say(`NOT SOUND: the run did not finish, ${(error as Error).message}`);
} finally {
  await testSystem.close();
}
if (process.exitCode === 1) {
  // What did not end as it should may wait for what will not come.
  memory[Symbol.dispose]();
  process.exit();
}

async function soak(system: TestSystem, lastsMs: number): Promise<boolean> {
  const check = new DeliveryCheck(system);
  const stop = new AbortController();
  await using stack = new AsyncDisposableStack();
  const hostility = isHostile ? stack.use(await Hostility.prepare(system)) : null;
  let calmSinceMs: number | null = null;
  const attacking = new AbortController();
  const scene = {
    testSystem: system,
    check,
    start: await headOf(system),
    stop: stop.signal,
    isCalm: () => calmSinceMs !== null,
    stack,
  };
  const copy = await loadCopy({ baseUrl: system.baseUrl, token: system.apiKey });
  const people = await gather(scene, asked.sockets);
  const writing = keepWriting(system, asked.writers, stop.signal, {
    everyMs: () => WRITES_EVERY_MS[calmSinceMs === null ? 'stormy' : 'calm'],
    copiesMax: COPIES_MAX,
    onAcknowledged: (answer) => check.acknowledge(answer),
  });
  const background = [
    every(JUDGE_EVERY_MS, stop.signal, async () => void (await check.runRound())),
    every(LOOK_EVERY_MS, stop.signal, () => memory.look(system)),
    every(NEWS_EVERY_MS, stop.signal, async () => say(news(check))),
  ];
  const disturbing = disturbThenRest(system, {
    lastsMs,
    hostility,
    stop: stop.signal,
    onCalm: () => {
      calmSinceMs = Date.now();
      attacking.abort();
    },
  });
  if (hostility !== null) {
    const report = (findings: readonly Finding[]): void => check.report(findings);
    background.push(hostility.work({ stop: stop.signal, say }));
    background.push(hostility.attack({ stop: attacking.signal, report }).then(async () => void (await disturbing)));
  }
  // Whoever fails ends the soak at once.
  await Promise.race([disturbing, writing, ...people, ...background]).finally(() => stop.abort());
  const disturbances = await disturbing;
  const { retries } = await writing;
  await Promise.all([...people, ...background]);
  await system.untilReady();
  await checkTheEnd(system, check, copy);
  if (hostility !== null) {
    const logs = [system.postgres, ...system.services].map(({ log }) => log);
    check.report(await contentInLogs(logs));
  }

  const { isSound, lines } = verdictOf({
    acknowledged: check.acknowledged,
    retries,
    delivered: check.delivered,
    rounds: check.rounds,
    disturbances,
    findings: check.findings,
    calmSinceMs: calmSinceMs ?? Date.now(),
    processes: system.services.map(({ name }) => name),
    alive: memory.alive(),
    native: memory.native(),
    resident: [...memory.resident(), ...memory.nats()],
    fairness: hostility?.fairness ?? null,
  });
  for (const line of lines) say(line);
  return isSound;
}

function news({ acknowledged, delivered, findings }: DeliveryCheck): string {
  const resident = [...memory.resident(), ...memory.nats()].map(
    ({ process: name, samples }) => [name, Math.round(samples.at(-1)?.megabytes ?? 0)] as const,
  );
  const megabytes = [...new Map(resident)].map((one) => one.join(' ')).join(', ');
  return `${acknowledged} acknowledged, ${delivered} heard, ${findings.length} findings; MB resident: ${megabytes}`;
}

interface Course {
  readonly lastsMs: number;
  readonly hostility: Hostility | null;
  readonly stop: AbortSignal;
  readonly onCalm: () => void;
}

/** Resolves to the number of disturbances, when the time is over and enough of it was calm. */
async function disturbThenRest(system: TestSystem, { lastsMs, hostility, stop, onCalm }: Course): Promise<number> {
  const turn = disturbancesOf(system);
  const startedMs = performance.now();
  const stormyMs = hostility === null ? lastsMs - Math.max(lastsMs * (1 - STORMY_SHARE), CALM_MS_MIN) : lastsMs;
  const countMin = hostility === null ? turn.length : 0;
  let count = 0;
  while (!stop.aborted && (count < countMin || performance.now() - startedMs < stormyMs)) {
    const next = turn[count % turn.length];
    if (next === undefined) break;
    say(next.name);
    const happen = async (): Promise<void> => {
      await next.happen();
      await system.untilReady();
    };
    await (hostility === null ? happen() : hostility.disturb(happen));
    count += 1;
    await rest(hostility === null ? BETWEEN_MS : BETWEEN_HOSTILE_MS, stop);
  }
  const calmMs = Math.max(lastsMs - (performance.now() - startedMs), CALM_MS_MIN);
  onCalm();
  say(`calm for ${Math.round(calmMs / 1000)} s, to see what memory does`);
  await rest(calmMs, stop);
  return count;
}

async function checkTheEnd(system: TestSystem, check: DeliveryCheck, copy: Copy): Promise<void> {
  const client = new Client({ connectionString: system.database.url });
  await client.connect();
  const nc = await connectToBroker(system.nats.url);
  try {
    // Who left meanwhile is judged as of then.
    await check.runRound();
    const log = await auditLog(client);
    const deadlineMs = performance.now() + CATCH_UP_MS;
    while (check.reached < log.head && performance.now() < deadlineMs) await pause(50);
    if (check.reached < log.head)
      check.report([
        { promise: 'nobody-stands-still', seen: `one is at ${check.reached}; the log has come to ${log.head}` },
      ]);
    if (!(await check.runRound())) throw new Error('the log cannot be read at the end');
    await check.findDoubled();
    check.report(log.findings);
    check.report((await auditStream(nc, client)).findings);
    check.report((await auditCopy(client, { baseUrl: system.baseUrl, token: system.apiKey }, copy)).findings);
  } finally {
    await nc.close();
    await client.end();
  }
}

async function every(ms: number, stop: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    await rest(ms, stop);
    if (!stop.aborted) await work();
  }
}
