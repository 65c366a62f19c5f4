import type { ReceiverOptions, TestSystem } from '@wts/testkit';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { AuditFinding } from '../finding.ts';
import { rest } from '../rest.ts';
import { Attackers } from '../hostile/attackers.ts';
import { ATTACK_NAMES, type AttackName } from '../hostile/attacks.ts';
import { CONTENT_MARK } from '../hostile/http-caller.ts';
import { HonestPerson } from '../hostile/honest-person.ts';
import { REQUEST_KINDS, latencies, type RequestSample } from '../hostile/samples.ts';

/** The requests of an honest person during attacks. */
export interface Fairness {
  readonly samples: readonly RequestSample[];
  /** The times in which a process or store was down, and a short time after each. */
  readonly disturbed: readonly Span[];
  readonly attacks: ReadonlyMap<AttackName, number>;
}

interface Span {
  readonly fromMs: number;
  toMs: number;
}

/** The share of the data of the benchmark, because the soak audits the whole log at the end. */
const SCALE = 0.1;
const PARALLEL = 2;
const ATTACK_MS = 8_000;
/** The time in which clients reconnect, caches fill, and refused requests are sent again. */
const RECOVERY_MS = 5_000;
const MINUTE_MS = 60_000;

interface RunOptions {
  readonly stop: AbortSignal;
  readonly print: (line: string) => void;
  readonly report: (findings: readonly AuditFinding[]) => void;
}

/** Attackers of every kind, two at a time in changing pairs, and an honest person whose requests are measured. */
export class HostileLoad implements AsyncDisposable {
  readonly #honest: HonestPerson;
  readonly #attackers: Attackers;
  readonly #samples: RequestSample[] = [];
  readonly #disturbed: Span[] = [];
  readonly #attacks = new Map<AttackName, number>();

  private constructor(honest: HonestPerson, attackers: Attackers) {
    this.#honest = honest;
    this.#attackers = attackers;
  }

  static async prepare(testSystem: TestSystem, identity: ReceiverOptions['identity']): Promise<HostileLoad> {
    const honest = await HonestPerson.start(testSystem, identity);
    return new HostileLoad(honest, await Attackers.prepare(testSystem, ATTACK_NAMES, { scale: SCALE }));
  }

  get fairness(): Fairness {
    return { samples: this.#samples, disturbed: this.#disturbed, attacks: this.#attacks };
  }

  /** Attacks until stopped. */
  async attack({ stop, report }: Pick<RunOptions, 'stop' | 'report'>): Promise<void> {
    const left: AttackName[] = [];
    while (!stop.aborted) {
      if (left.length < PARALLEL) left.push(...shuffled(ATTACK_NAMES));
      const pair = new Set(left.splice(0, PARALLEL));
      for (const name of pair) await this.#attackers.begin(name);
      await rest(ATTACK_MS, stop);
      for (const name of pair) {
        const { leaks } = await this.#attackers.end(name);
        report(leaks.map((seen) => ({ guarantee: 'nothing-foreign', seen: `${name}: ${seen}` })));
        this.#attacks.set(name, (this.#attacks.get(name) ?? 0) + 1);
      }
    }
  }

  /** Runs the honest person until stopped, and prints the latencies every minute. */
  async runHonest({ stop, print }: Pick<RunOptions, 'stop' | 'print'>): Promise<void> {
    await this.#honest.begin();
    for (let minute = 1; !stop.aborted; minute += 1) {
      await rest(MINUTE_MS, stop);
      if (stop.aborted) await this.#honest.end();
      const samples = await this.#honest.take();
      this.#samples.push(...samples);
      print(`minute ${minute}: honest ${fairnessText({ ...this.fairness, samples })}`);
    }
  }

  /** Runs a disturbance and records its time span. */
  async disturb(run: () => Promise<void>): Promise<void> {
    const span = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    this.#disturbed.push(span);
    await run();
    span.toMs = Date.now() + RECOVERY_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#attackers[Symbol.asyncDispose]();
    await this.#honest[Symbol.asyncDispose]();
  }
}

/** The requests that overlap with no disturbance. */
export function undisturbed({ samples, disturbed }: Pick<Fairness, 'samples' | 'disturbed'>): readonly RequestSample[] {
  return samples.filter(
    ({ atMs, tookMs }) => !disturbed.some(({ fromMs, toMs }) => atMs <= toMs && atMs + tookMs >= fromMs),
  );
}

const LINE_CHARS_MAX = 2_000;

/** Finds the content of records in server logs, which people without access may read. */
export async function contentInLogs(logs: readonly string[]): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  for (const log of logs) {
    const lines: string[] = [];
    for await (const line of createInterface(createReadStream(log))) if (line.includes(CONTENT_MARK)) lines.push(line);
    const [first] = lines;
    if (first !== undefined)
      findings.push({
        guarantee: 'content-stays-in-tables',
        // The logs go with the run, and the content is that of the run.
        seen: `${lines.length} lines of ${log} contain content of records, the first: ${first.slice(0, LINE_CHARS_MAX)}`,
      });
  }
  return findings;
}

/** The latencies of undisturbed requests, and the number of refusals outside and during disturbances. */
export function fairnessText(fairness: Pick<Fairness, 'samples' | 'disturbed'>): string {
  const calm = undisturbed(fairness);
  const figures = latencies(calm);
  const refused = calm.filter(({ refusal }) => refusal !== null).length;
  const during = fairness.samples.filter(({ refusal }) => refusal !== null).length - refused;
  const times = REQUEST_KINDS.map(
    (kind) => `${kind} p50 ${figures[kind].p50Ms.toFixed(1)} p99 ${figures[kind].p99Ms.toFixed(0)} ms`,
  );
  return `${times.join(', ')} (${calm.length} requests, ${refused} refused); during disturbances ${during} refused`;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((one) => [Math.random(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}
