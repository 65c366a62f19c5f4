/** The time of a kill, stop or pause. Times are milliseconds since 1970 on the clock of this machine. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A secret of an endpoint. */
export interface KnownSecret {
  readonly secret: string;
  /** When it was requested; nothing is signed with it before. */
  readonly requestedMs: number;
  /** When the endpoint's owner had it; -Infinity for the first one, because it signs from the start. */
  readonly answeredMs: number;
}

/** A position between these two; which one is not known, because nothing stops while it is read. */
export interface Between {
  readonly earliest: bigint;
  readonly latest: bigint;
}

/**
 * A part of the log whose events do not reach an endpoint: before it is created, while it is disabled, after it is deleted.
 * Enqueueing reads whether an endpoint is enabled, so positions are those of the cursor.
 */
export interface Gap {
  /** The last event before the gap. */
  readonly begins: Between;
  /** The last event of the gap. */
  readonly ends: Between;
  /** When the service had answered that the endpoint is off, and when it was asked to enable it. */
  readonly off: Span;
}

export interface CheckedEndpoint {
  readonly name: string;
  /** Empty: all. */
  readonly eventTypes: readonly string[];
  /** The oldest first. None of them ends during a soak. */
  readonly secrets: readonly KnownSecret[];
  readonly gaps: readonly Gap[];
  /** What it has not received is dropped. */
  readonly isDeleted: boolean;
  /** Lives for a while only, the last one of a run perhaps while nothing is written any more. */
  readonly isReplaced: boolean;
}

/** A position beyond every log. */
export const END = 1n << 62n;
/** An attempt that began with the former settings of its endpoint arrives within this: their age and the length of an attempt. */
const SETTLED_MS = 12_000;

/** Whether the event at this position must reach the endpoint. */
export function reachOf({ gaps }: Pick<CheckedEndpoint, 'gaps'>, position: bigint): 'must' | 'may' | 'must not' {
  if (gaps.some(({ begins, ends }) => position > begins.latest && position <= ends.earliest)) return 'must not';
  return gaps.some(({ begins, ends }) => position > begins.earliest && position <= ends.latest) ? 'may' : 'must';
}

/** The secrets that must have signed an attempt, the newest last, and how many signatures it may have. */
export function signersAt(
  { secrets }: Pick<CheckedEndpoint, 'secrets'>,
  atMs: number,
  kills: readonly Span[],
): { readonly must: readonly string[]; readonly signaturesMax: number } {
  const requested = secrets.filter(({ requestedMs }) => requestedMs <= atMs);
  const must = requested.filter(({ answeredMs }) => settledMs(answeredMs, kills) <= atMs);
  return { must: must.map(({ secret }) => secret), signaturesMax: Math.max(requested.length, 1) };
}

/** Whether the endpoint was off for so long that no attempt may arrive. */
export function isOff({ gaps }: Pick<CheckedEndpoint, 'gaps'>, atMs: number, kills: readonly Span[]): boolean {
  return gaps.some(({ off }) => atMs < off.toMs && atMs > settledMs(off.fromMs, kills));
}

/** From here on every attempt began after `answeredMs`: a process that was paused first sends what it had begun. */
function settledMs(answeredMs: number, kills: readonly Span[]): number {
  return kills
    .toSorted((one, other) => one.fromMs - other.fromMs)
    .reduce(
      (until, { fromMs, toMs }) => (fromMs <= until ? Math.max(until, toMs + SETTLED_MS) : until),
      answeredMs + SETTLED_MS,
    );
}
