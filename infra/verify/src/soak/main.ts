/**
 * `npm run soak`: starts a system, writes and follows, kills or pauses every process in turn, and checks all deliveries meanwhile,
 * those of webhooks too; see README.md. Exits with 0 when nothing was missing, doubled or out of order, every acknowledged change is
 * in the log, and memory is flat; with 1 otherwise, also when it could not check one of these.
 *
 * The first part has disturbances. The last part is calm and long enough to measure memory, because a slope needs a process that
 * runs for minutes. With `--hostile`, attackers run instead of consumers of webhooks, until the calm part begins.
 */
import { optionsOrExit, printWithClock as print } from '@wts/local';
import { startTestSystem, testAuthority, type TestSystem } from '@wts/testkit';
import type { AuditFinding } from '../finding.ts';
import { every, rest } from '../rest.ts';
import { numbersOrExit } from '../numbers.ts';
import { disturbancesOf } from './disturbances.ts';
import { contentInLogs, HostileLoad } from './hostile-load.ts';
import { Load } from './load.ts';
import { ProcessMemory } from './process-memory.ts';
import { CALM_MS_MIN, verdictOf } from './verdict.ts';
import type { Span } from './endpoint-history.ts';
import { DISPATCHER_SETTINGS } from './webhook-consumers.ts';

const USAGE = `npm run soak [-- options]

  --minutes N     length, default 10; without --hostile at least eight minutes
  --writers N     writers at the same time, default 8
  --sockets N     followers by socket, default 6
  --replicas N    sync services, default 2
  --hostile       attackers of every kind instead of consumers of webhooks`;

const { hostile: isHostile, ...numbers } = optionsOrExit(USAGE, {
  minutes: { type: 'string', default: '10' },
  writers: { type: 'string', default: '8' },
  sockets: { type: 'string', default: '6' },
  replicas: { type: 'string', default: '2' },
  hostile: { type: 'boolean', default: false },
});
const DISTURBED_SHARE = 0.5;
/** Of each writer. The calm pace is one that any machine can keep, because the memory of recent entries follows the pace. */
const WRITES_EVERY_MS = { disturbed: 60, calm: 200 };
const COPIES_MAX = 3;
const SAMPLE_EVERY_MS = 1_000;
const PROGRESS_EVERY_MS = 15_000;
const BETWEEN_MS = 4_000;
/** Longer, because honest requests only count while everything is up. */
const BETWEEN_HOSTILE_MS = 15_000;

const options = numbersOrExit(numbers, { minutes: 0, writers: 1, sockets: 0, replicas: 1 });

using memory = new ProcessMemory();
const authority = await testAuthority();
const dispatcherSettings = { ...DISPATCHER_SETTINGS, WEBHOOK_EXTRA_CA_FILE: authority.caFile };
const testSystem = await startTestSystem({
  label: 'soak',
  replicas: { sync: options.replicas, 'webhook-dispatcher': isHostile ? 1 : 2 },
  ownPostgres: true,
  wires: true,
  overrides: {
    ...memory.overrides,
    // An honest person queries more often than one address may.
    gateway: { ...memory.overrides['gateway'], RATE_LIMITS: JSON.stringify({ graphql: 0 }) },
    'webhook-dispatcher': { ...memory.overrides['webhook-dispatcher'], ...dispatcherSettings },
  },
});
try {
  process.exitCode = (await soak(testSystem, options.minutes * 60_000)) ? 0 : 1;
} catch (error) {
  process.exitCode = 1;
  console.error(error);
  print(`FAILED: the run did not finish: ${(error as Error).message}`);
} finally {
  await testSystem.close();
}
if (process.exitCode === 1) {
  // After a failure something may still be open and keep the process alive.
  memory[Symbol.dispose]();
  process.exit();
}

async function soak(system: TestSystem, lastsMs: number): Promise<boolean> {
  const [stop, attacking] = [new AbortController(), new AbortController()];
  await using stack = new AsyncDisposableStack();
  const hostileLoad = isHostile ? stack.use(await HostileLoad.prepare(system, await authority.issue())) : null;
  let calmSinceMs: number | null = null;
  const load = await Load.start(
    stack,
    system,
    {
      place: isHostile ? null : { identity: await authority.issue() },
      writers: options.writers,
      sockets: options.sockets,
      writeEveryMs: () => WRITES_EVERY_MS[calmSinceMs === null ? 'disturbed' : 'calm'],
      copiesMax: COPIES_MAX,
      isCalm: () => calmSinceMs !== null,
    },
    stop.signal,
  );
  const { check } = load;
  const background: Promise<unknown>[] = [
    ...load.background,
    every(SAMPLE_EVERY_MS, stop.signal, async () => memory.sample(system)),
    every(PROGRESS_EVERY_MS, stop.signal, async () => print(progress(load))),
  ];
  const kills: Span[] = [];
  const disturbing = disturbThenRest(system, {
    lastsMs,
    hostileLoad,
    kills,
    stop: stop.signal,
    onCalm: () => {
      calmSinceMs = Date.now();
      attacking.abort();
    },
  });
  if (hostileLoad !== null) {
    const report = (findings: readonly AuditFinding[]): void => check.report(findings);
    background.push(hostileLoad.runHonest({ stop: stop.signal, print }));
    background.push(hostileLoad.attack({ stop: attacking.signal, report }).then(async () => void (await disturbing)));
  }
  // The first error ends the soak.
  await Promise.race([disturbing, ...background]).finally(() => stop.abort());
  const disturbances = await disturbing;
  await Promise.all(background);
  print('waiting for the last deliveries');
  const { webhooks } = await load.finish(kills);
  const logs = [system.postgres, ...system.services].map(({ log }) => log);
  if (hostileLoad !== null) check.report(await contentInLogs(logs));

  const { isPassed, lines } = verdictOf({
    acknowledged: check.acknowledged,
    retries: load.retries,
    delivered: check.delivered,
    rounds: check.rounds,
    disturbances,
    findings: check.findings,
    calmSinceMs: calmSinceMs ?? Date.now(),
    processes: system.services.map(({ name }) => name),
    alive: memory.alive(),
    native: memory.native(),
    resident: [...memory.resident(), ...memory.nats()],
    webhooks,
    fairness: hostileLoad?.fairness ?? null,
  });
  for (const line of lines) print(line);
  return isPassed;
}

function progress({ check: { acknowledged, delivered, findings }, consumers }: Load): string {
  const resident = [...memory.resident(), ...memory.nats()].map(
    ({ process: name, samples }) => [name, Math.round(samples.at(-1)?.megabytes ?? 0)] as const,
  );
  const megabytes = [...new Map(resident)].map((one) => one.join(' ')).join(', ');
  const attempts = consumers === null ? '' : `${consumers.attempts} webhook attempts, `;
  return `${acknowledged} acknowledged, ${delivered} received, ${attempts}${findings.length} findings; resident MB: ${megabytes}`;
}

interface DisturbOptions {
  readonly lastsMs: number;
  readonly hostileLoad: HostileLoad | null;
  /** Gets the time of each disturbance after which webhooks may be repeated. */
  readonly kills: Span[];
  readonly stop: AbortSignal;
  readonly onCalm: () => void;
}

/** Resolves to the number of disturbances, after the calm part. */
async function disturbThenRest(
  system: TestSystem,
  { lastsMs, hostileLoad, kills, stop, onCalm }: DisturbOptions,
): Promise<number> {
  const round = disturbancesOf(system);
  const startedMs = performance.now();
  const disturbedMs = hostileLoad === null ? lastsMs - Math.max(lastsMs * (1 - DISTURBED_SHARE), CALM_MS_MIN) : lastsMs;
  const countMin = hostileLoad === null ? round.length : 0;
  let count = 0;
  while (!stop.aborted && (count < countMin || performance.now() - startedMs < disturbedMs)) {
    const next = round[count % round.length];
    if (next === undefined) break;
    print(next.name);
    const run = async (): Promise<void> => {
      const fromMs = Date.now();
      await next.run();
      await system.untilReady();
      if (next.repeatsWebhooks) kills.push({ fromMs, toMs: Date.now() });
    };
    await (hostileLoad === null ? run() : hostileLoad.disturb(run));
    count += 1;
    await rest(hostileLoad === null ? BETWEEN_MS : BETWEEN_HOSTILE_MS, stop);
  }
  const calmMs = Math.max(lastsMs - (performance.now() - startedMs), CALM_MS_MIN);
  onCalm();
  print(`no disturbances for ${Math.round(calmMs / 1000)} s, to measure memory`);
  await rest(calmMs, stop);
  return count;
}
