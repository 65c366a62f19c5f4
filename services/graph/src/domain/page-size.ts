import { LIMITS } from '@wts/contracts';
import { invalid } from './errors.ts';

/** How many records a page has; `name` is the argument that gives it. */
export function pageSizeOf(given: number | null | undefined, name: 'first' | 'last' = 'first'): number {
  const size = given ?? LIMITS.graphPageDefault;
  if (size < 1 || size > LIMITS.graphPageMax) throw invalid(`${name} must be 1 to ${LIMITS.graphPageMax}`);
  return size;
}
