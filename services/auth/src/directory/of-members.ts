import { syncApi, type Member } from '@wts/contracts';
import type { Directory } from './directory.ts';

/** Of more members, a list is read from rows of all people, of whom sync says which are members. */
const MEMBERS_MAX = 200;

interface Scan<R> {
  readonly workspaceId: string;
  /** How many rows are enough. */
  readonly size: number;
  /** Rows of these people; of all people with null, then after `last`. */
  readonly read: (members: readonly Member[] | null, last: R | null, limit: number) => Promise<readonly R[]>;
  readonly isOfMember?: (row: R, member: Member) => boolean;
  /** Up to so many members are read themselves; at most 999, which one call of sync lists. */
  readonly membersMax?: number;
  /** How many pages of rows of all people may be read. */
  readonly pagesMax?: number;
}

/**
 * The rows of the members of a workspace, in the order of their list. What a page costs does not depend on the number of members: each is
 * asked where they are few; of more, each page of rows of all people costs one call. `reached` is the last row that was looked at, null
 * when there is no other one.
 */
export async function ofMembers<R extends { readonly userId: string | null }>(
  directory: Pick<Directory, 'members'>,
  { workspaceId, size, read, isOfMember = () => true, membersMax = MEMBERS_MAX, pagesMax = Infinity }: Scan<R>,
): Promise<{ readonly found: readonly R[]; readonly reached: R | null }> {
  const first = await directory.members({ workspaceId, limit: membersMax + 1 });
  if (first.length <= membersMax) return { found: await read(first, null, size), reached: null };
  const found: R[] = [];
  let last: R | null = null;
  for (let pages = 0; pages < pagesMax && found.length < size; pages += 1) {
    const page: readonly R[] = await read(null, last, syncApi.RECORDS_PAGE_MAX);
    const userIds = [...new Set(page.flatMap(({ userId }) => userId ?? []))];
    const limit = syncApi.RECORDS_PAGE_MAX;
    const members = new Map(
      (await directory.members({ workspaceId, userIds, limit })).map((member) => [member.userId, member]),
    );
    for (const row of page) {
      const member = members.get(row.userId ?? '');
      if (member !== undefined && isOfMember(row, member)) found.push(row);
    }
    if (page.length < limit) return { found, reached: null };
    last = page.at(-1) ?? null;
  }
  return { found, reached: last };
}
