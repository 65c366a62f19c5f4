/** The word that one was meant to be: one letter differs, of a long word two. Null when none is near. */
export function nearestWord(word: string, words: readonly string[]): string | null {
  const distanceMax = word.length < LONG ? 1 : 2;
  const [best] = words
    .map((one) => ({ one, distance: distanceOf(word.toLowerCase(), one) }))
    .filter(({ distance }) => distance <= distanceMax)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.one ?? null;
}

const LONG = 7;

/** Letters that are missing, added, replaced or swapped with their neighbor (optimal string alignment). */
function distanceOf(one: string, other: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, row];
  }
  return last[other.length] ?? 0;
}
