/** What an honest person does. */
export const DEEDS = ['write', 'deltas', 'bootstrap'] as const;
export type Deed = (typeof DEEDS)[number];

export interface Sample {
  readonly deed: Deed;
  /** When it was asked for, by the wall clock. */
  readonly atMs: number;
  readonly tookMs: number;
  /** Null when it was answered as it should be, else the status, or the code of the network. */
  readonly refusal: string | null;
}

export interface Latency {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly refused: number;
}

/** Refused ones count by the time they took: who waits does not know yet what the answer will be. */
function latencyOf(samples: readonly Sample[]): Latency {
  const sorted = samples.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const refused = samples.filter(({ refusal }) => refusal !== null).length;
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), refused };
}

export function latencies(samples: readonly Sample[]): Record<Deed, Latency> {
  const of = (deed: Deed): Latency => latencyOf(samples.filter((sample) => sample.deed === deed));
  return { write: of('write'), deltas: of('deltas'), bootstrap: of('bootstrap') };
}
