import { Fault } from '@wts/contracts';
import { onFault } from '../domain/on-fault.ts';

/** What several cells answered together. */
export interface Gathered<T> {
  readonly found: readonly T[];
  /** The addresses of the cells that did not answer: what lives there is missing, and nothing else. */
  readonly away: readonly string[];
}

type Addressed = { readonly baseUrl: string };

/** Asks all of them at once. The fault of a single cell is that of the answer. */
export async function gather<C extends Addressed, T>(
  cells: readonly C[],
  ask: (cell: C) => Promise<readonly T[]>,
): Promise<Gathered<T>> {
  const [only] = cells;
  if (only !== undefined && cells.length === 1) return { found: await ask(only), away: [] };
  const answers = await Promise.all(cells.map((cell) => askOne(cell, ask)));
  return { found: answers.flatMap(({ found }) => found), away: answers.flatMap(({ away }) => away) };
}

/** Only `unavailable` means that a cell is away. */
export async function askOne<C extends Addressed, T>(
  cell: C,
  ask: (cell: C) => Promise<readonly T[]>,
): Promise<Gathered<T>> {
  const found = await ask(cell).catch(onFault('unavailable', null));
  return found === null ? { found: [], away: [cell.baseUrl] } : { found, away: [] };
}

/** Of an answer; nothing while each cell answers. */
export function awayCells(away: readonly string[]): { readonly away?: string[] } {
  return away.length === 0 ? {} : { away: [...away] };
}

/** For what must be whole. */
export function whole<T>({ found, away }: Gathered<T>): readonly T[] {
  if (away.length === 0) return found;
  throw new Fault('unavailable', { message: `No answer from ${away.join(', ')}. Try again.` });
}
