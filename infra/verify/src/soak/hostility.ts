import type { TestSystem } from '@wts/testkit';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Finding } from '../finding.ts';
import { rest } from '../hostile/attacker.ts';
import { Attackers } from '../hostile/attackers.ts';
import { ATTACK_NAMES, type AttackName } from '../hostile/attacks.ts';
import { CONTENT_MARK } from '../hostile/caller.ts';
import { HonestPerson } from '../hostile/honest-person.ts';
import { DEEDS, latencies, type Sample } from '../hostile/samples.ts';

/** What honest people met beside attackers. */
export interface Fairness {
  readonly samples: readonly Sample[];
  /** While a process or a store was away, and until everything was as before. */
  readonly disturbed: readonly Span[];
  readonly attacks: ReadonlyMap<AttackName, number>;
}

interface Span {
  readonly fromMs: number;
  toMs: number;
}

/** Of the amounts of the benchmark: the log is judged as a whole at the end, and is to stay of a size for that. */
const SCALE = 0.1;
const AT_ONCE = 2;
const LASTS_MS = 8_000;
/** Clients come back, caches fill, and what was refused is sent again. */
const AFTERMATH_MS = 5_000;
const MINUTE_MS = 60_000;

interface Watching {
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
  readonly report: (findings: readonly Finding[]) => void;
}

/** Attackers of every kind, two at a time in changing pairs, and an honest person whose waiting is measured beside them. */
export class Hostility implements AsyncDisposable {
  readonly #honest: HonestPerson;
  readonly #attackers: Attackers;
  readonly #samples: Sample[] = [];
  readonly #disturbed: Span[] = [];
  readonly #attacks = new Map<AttackName, number>();

  private constructor(honest: HonestPerson, attackers: Attackers) {
    this.#honest = honest;
    this.#attackers = attackers;
  }

  static async prepare(testSystem: TestSystem): Promise<Hostility> {
    const honest = await HonestPerson.settle(testSystem);
    return new Hostility(honest, await Attackers.prepare(testSystem, ATTACK_NAMES, { scale: SCALE }));
  }

  get fairness(): Fairness {
    return { samples: this.#samples, disturbed: this.#disturbed, attacks: this.#attacks };
  }

  /** Attacks until stopped. */
  async attack({ stop, report }: Pick<Watching, 'stop' | 'report'>): Promise<void> {
    const left: AttackName[] = [];
    while (!stop.aborted) {
      if (left.length < AT_ONCE) left.push(...shuffled(ATTACK_NAMES));
      const pair = new Set(left.splice(0, AT_ONCE));
      for (const name of pair) await this.#attackers.begin(name);
      await rest(LASTS_MS, stop);
      for (const name of pair) {
        const { leaks } = await this.#attackers.end(name);
        report(leaks.map((seen) => ({ promise: 'nothing-foreign', seen: `${name}: ${seen}` })));
        this.#attacks.set(name, (this.#attacks.get(name) ?? 0) + 1);
      }
    }
  }

  /** Works as an honest person until stopped, and says every minute what that was like. */
  async work({ stop, say }: Pick<Watching, 'stop' | 'say'>): Promise<void> {
    this.#honest.begin();
    for (let minute = 1; !stop.aborted; minute += 1) {
      await rest(MINUTE_MS, stop);
      if (stop.aborted) await this.#honest.end();
      const samples = this.#honest.take();
      this.#samples.push(...samples);
      say(`minute ${minute}: honest ${wordsOf({ ...this.fairness, samples })}`);
    }
  }

  /** What happens now takes something away from everybody. */
  async disturb(happen: () => Promise<void>): Promise<void> {
    const span = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    this.#disturbed.push(span);
    await happen();
    span.toMs = Date.now() + AFTERMATH_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#attackers[Symbol.asyncDispose]();
    await this.#honest[Symbol.asyncDispose]();
  }
}

/** Those that were under way at no time when something was taken away. */
export function undisturbed({ samples, disturbed }: Pick<Fairness, 'samples' | 'disturbed'>): readonly Sample[] {
  return samples.filter(
    ({ atMs, tookMs }) => !disturbed.some(({ fromMs, toMs }) => atMs <= toMs && atMs + tookMs >= fromMs),
  );
}

/** A log may be shipped to people who must not read what records say. */
export async function contentInLogs(logs: readonly string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const log of logs) {
    let lines = 0;
    for await (const line of createInterface(createReadStream(log))) if (line.includes(CONTENT_MARK)) lines += 1;
    if (lines > 0) findings.push({ promise: 'content-stays-in-tables', seen: `${lines} lines of ${log} hold records` });
  }
  return findings;
}

/** Latencies of what was undisturbed; refusals of both, apart. */
export function wordsOf(fairness: Pick<Fairness, 'samples' | 'disturbed'>): string {
  const calm = undisturbed(fairness);
  const figures = latencies(calm);
  const refused = calm.filter(({ refusal }) => refusal !== null).length;
  const during = fairness.samples.filter(({ refusal }) => refusal !== null).length - refused;
  const times = DEEDS.map(
    (deed) => `${deed} p50 ${figures[deed].p50Ms.toFixed(1)} p99 ${figures[deed].p99Ms.toFixed(0)} ms`,
  );
  return `${times.join(', ')} (${calm.length} requests, ${refused} refused); during kills ${during} refused`;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((one) => [Math.random(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}
