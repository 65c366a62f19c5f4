import type { Target } from './target.ts';

/** Measures each contender in every round, in alternating order, so that a disturbance of the machine affects all alike. */
export async function alternate<Name extends string, T>(
  rounds: number,
  contenders: { readonly [name in Name]?: (() => Promise<T>) | undefined },
): Promise<Record<Name, readonly T[]>> {
  const entries = Object.entries<(() => Promise<T>) | undefined>(contenders);
  const measured = Object.fromEntries(entries.map(([name]) => [name, [] as T[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, measure] of round % 2 === 0 ? entries : entries.toReversed()) {
      if (measure !== undefined) measured[name]?.push(await measure());
    }
  }
  return measured as Record<Name, T[]>;
}

/** Measures ours and the peer, if there is one, in every round. */
export function alternateWithPeer<T>(
  rounds: number,
  { ours, peer }: { readonly ours: Target; readonly peer: Target | null },
  measure: (target: Target) => Promise<T>,
): Promise<Record<'ours' | 'peer', readonly T[]>> {
  return alternate(rounds, { ours: () => measure(ours), peer: peer === null ? undefined : () => measure(peer) });
}

/** The middle round by a measure, so that one disturbed round does not count. */
export function median<T>(rounds: readonly T[], measure: (round: T) => number): T {
  const middle = rounds.toSorted((a, b) => measure(a) - measure(b))[rounds.length >> 1];
  if (middle === undefined) throw new Error('a benchmark needs at least one round');
  return middle;
}

export interface Ratio {
  /** The ratio of the medians. */
  readonly middle: number;
  /** The smallest and largest ratio of a round, which show the noise. */
  readonly least: number;
  readonly most: number;
}

/** Null without measurements of the other. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): Ratio | null {
  if (theirs.length === 0) return null;
  const of = (numbers: readonly number[]): number => median(numbers, (one) => one);
  const pairs = ours.flatMap((one, round) => (theirs[round] === undefined ? [] : [one / theirs[round]]));
  return { middle: of(ours) / of(theirs), least: Math.min(...pairs), most: Math.max(...pairs) };
}
