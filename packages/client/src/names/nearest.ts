import { NAME_LIMITS } from './limits.ts';

/** The candidates whose names are most like a word, the best first. */
export function nearest<T>(word: string, candidates: readonly T[], namesOf: (candidate: T) => readonly string[]): T[] {
  return candidates
    .map((candidate) => ({
      candidate,
      likeness: Math.max(0, ...namesOf(candidate).map((name) => likeness(word, name))),
    }))
    .toSorted((a, b) => b.likeness - a.likeness)
    .slice(0, NAME_LIMITS.shownMax)
    .map(({ candidate }) => candidate);
}

/** From 0 to 1: the share of pairs of neighboring letters that both have (Dice's coefficient). Linear in their lengths. */
function likeness(one: string, other: string): number {
  const [a, b] = [pairsOf(one), pairsOf(other)];
  let shared = 0;
  for (const [pair, times] of a.pairs) shared += Math.min(times, b.pairs.get(pair) ?? 0);
  return (2 * shared) / (a.count + b.count);
}

function pairsOf(name: string): { readonly pairs: ReadonlyMap<string, number>; readonly count: number } {
  // The blanks make the first and the last letter count twice.
  const letters = ` ${fold(name)} `;
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < letters.length; at += 1) {
    const pair = letters.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return { pairs, count: letters.length - 1 };
}

/** Names that differ only in capitals, accents or blanks are alike. */
export function fold(name: string): string {
  return name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/\s+/g, ' ').trim();
}
