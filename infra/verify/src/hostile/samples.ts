/** The requests of an honest person. */
export const REQUEST_KINDS = ['write', 'deltas', 'bootstrap', 'graphql', 'webhook'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

export interface RequestSample {
  readonly kind: RequestKind;
  /** When it was sent, by the wall clock. */
  readonly atMs: number;
  readonly tookMs: number;
  /** Null: the response was correct. Otherwise the status or the network error. */
  readonly refusal: string | null;
}

export interface RequestLatency {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly refused: number;
}

/** Refused requests count too, because a caller waits for a refusal as well. */
function latencyOf(samples: readonly RequestSample[]): RequestLatency {
  const sorted = samples.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const refused = samples.filter(({ refusal }) => refusal !== null).length;
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), refused };
}

export function latencies(samples: readonly RequestSample[]): Record<RequestKind, RequestLatency> {
  const of = (kind: RequestKind): RequestLatency => latencyOf(samples.filter((sample) => sample.kind === kind));
  return {
    write: of('write'),
    deltas: of('deltas'),
    bootstrap: of('bootstrap'),
    graphql: of('graphql'),
    webhook: of('webhook'),
  };
}
