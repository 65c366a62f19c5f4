/** Of an option whose value may be taken away: `none` is null, and what was not given stays as it is. */
export async function orNull<T>(
  word: string | undefined,
  find: (word: string) => T | Promise<T>,
): Promise<T | null | undefined> {
  return word === undefined ? undefined : word.toLowerCase() === 'none' ? null : find(word);
}
