import { Fault } from '@wts/contracts';
import { faultOfSqlState } from '@wts/service-kit/postgres';

/**
 * Runs work over items, and over their halves when it fails, down to the one for which it does, so that the work of the others is done.
 * An error of the database, or of a queue without room, is the fault of no item: it ends the work.
 */
export async function divideOnFailure<Item>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<void>,
  onFailed: (item: Item, error: unknown) => Promise<void> | void,
): Promise<void> {
  const [first] = items;
  if (first === undefined) return;
  try {
    await run(items);
  } catch (error) {
    if (error instanceof Fault || faultOfSqlState(error)?.code === 'unavailable') throw error;
    if (items.length === 1) return onFailed(first, error);
    const half = Math.ceil(items.length / 2);
    await divideOnFailure(items.slice(0, half), run, onFailed);
    await divideOnFailure(items.slice(half), run, onFailed);
  }
}
