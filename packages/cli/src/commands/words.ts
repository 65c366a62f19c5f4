/** `Web site` becomes `web-site`. */
export function slugOf(name: string): string {
  const words = name.normalize('NFKD').toLowerCase();
  return words.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
}

/** Of an option whose value may be taken away: `none` is null, and what was not given stays as it is. */
export async function orNull<T>(
  word: string | undefined,
  find: (word: string) => T | Promise<T>,
): Promise<T | null | undefined> {
  return word === undefined ? undefined : word.toLowerCase() === 'none' ? null : find(word);
}
