/** Does the work for one after the other, also after one failed. Then it throws the first failure. */
export async function eachByItself<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) await work(item).catch((failure: unknown) => failures.push(failure));
  if (failures.length > 0) throw failures[0];
}
