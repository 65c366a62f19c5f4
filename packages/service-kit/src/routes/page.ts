import { LIMITS } from '@wts/contracts';

/** How many items a page has of which a caller asked for so many. */
export function pageSizeOf(limit: number = LIMITS.listPageDefault): number {
  return Math.min(Math.max(1, limit), LIMITS.listPageMax);
}

/** A page of a list. `read` is asked for one item more than it has, because that one shows whether there is another page. */
export async function readPage<T>(
  limit: number | undefined,
  read: (limit: number) => Promise<readonly T[]>,
): Promise<{ readonly items: T[]; readonly hasMore: boolean }> {
  const size = pageSizeOf(limit);
  const found = await read(size + 1);
  return { items: found.slice(0, size), hasMore: found.length > size };
}
