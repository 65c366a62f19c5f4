/**
 * Rounds in which each contender has its turn, in one order and then in the other, so that whatever disturbs the machine
 * for a while disturbs all of them alike.
 */
export async function inTurns<Name extends string, T>(
  rounds: number,
  contenders: { readonly [name in Name]?: (() => Promise<T>) | undefined },
): Promise<Record<Name, readonly T[]>> {
  const taking = Object.entries<(() => Promise<T>) | undefined>(contenders);
  const measured = Object.fromEntries(taking.map(([name]) => [name, [] as T[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, measure] of round % 2 === 0 ? taking : taking.toReversed()) {
      if (measure !== undefined) measured[name]?.push(await measure());
    }
  }
  return measured as Record<Name, T[]>;
}

/** The middle one of several rounds by a measure: one disturbed round does not decide. */
export function median<T>(rounds: readonly T[], measure: (round: T) => number): T {
  const middle = rounds.toSorted((a, b) => measure(a) - measure(b))[rounds.length >> 1];
  if (middle === undefined) throw new Error('a benchmark needs at least one round');
  return middle;
}

export interface Ratio {
  /** Of the medians, which are what is shown. */
  readonly middle: number;
  /** Of the rounds in which both were measured side by side: how far noise moves it. */
  readonly least: number;
  readonly most: number;
}

/** How many times as much of a measure; null where nobody else was measured. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): Ratio | null {
  if (theirs.length === 0) return null;
  const of = (numbers: readonly number[]): number => median(numbers, (one) => one);
  const pairs = ours.flatMap((one, round) => (theirs[round] === undefined ? [] : [one / theirs[round]]));
  return { middle: of(ours) / of(theirs), least: Math.min(...pairs), most: Math.max(...pairs) };
}
