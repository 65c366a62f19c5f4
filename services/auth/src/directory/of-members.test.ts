import assert from 'node:assert/strict';
import type { Member } from '@wts/contracts';
import type { Directory } from './directory.ts';
import { ofMembers } from './of-members.ts';

interface Row {
  readonly userId: string | null;
  readonly at: number;
}

/** Members `0` to `n - 1`, as sync answers, and the calls that it got. */
function directoryOf(n: number): Pick<Directory, 'members'> & { readonly calls: { readonly people: number }[] } {
  const calls: { people: number }[] = [];
  const member = (userId: string): Member => ({
    userId,
    name: '',
    email: null,
    avatarUrl: null,
    role: 'member',
    joinedAt: '2026-01-01T00:00:00.000Z',
  });
  return {
    calls,
    members: async ({ userIds, limit }) => {
      calls.push({ people: userIds?.length ?? limit });
      const asked = userIds ?? Array.from({ length: n }, (_, id) => `${id}`);
      return asked
        .filter((id) => Number(id) < n)
        .slice(0, limit)
        .map(member);
    },
  };
}

const rows = (count: number, userId: (at: number) => string): Row[] =>
  Array.from({ length: count }, (_, at) => ({ at, userId: userId(at) }));

describe('a list of the members of a workspace', () => {
  const readOf = (all: readonly Row[]) => async (_: unknown, last: Row | null, limit: number) =>
    all.filter(({ at }) => last === null || at > last.at).slice(0, limit);

  it('costs the same calls for a page whatever the number of members [never.unbounded]', async () => {
    const all = rows(5_000, (at) => `${(at * 7) % 10_000}`);
    for (const members of [1_000, 10_000, 1_000_000]) {
      const directory = directoryOf(members);
      const { found } = await ofMembers(directory, { workspaceId: '', size: 50, read: readOf(all) });
      assert.ok(found.length >= 50);
      assert.deepEqual(directory.calls, [{ people: 201 }, { people: 1_000 }], `${members}`);
    }
  });

  it('reads up to as many members themselves as its caller says, however many rows other people have', async () => {
    const strangers = rows(50_000, () => '5000');
    const read = async (members: readonly Member[] | null, last: Row | null, limit: number) =>
      members === null ? readOf(strangers)(null, last, limit) : [{ at: 0, userId: '7' }];
    for (const [members, calls] of [
      [999, 1],
      [1_000, 52],
    ] as const) {
      const directory = directoryOf(members);
      await ofMembers<Row>(directory, { workspaceId: '', size: 50, membersMax: 999, read });
      assert.equal(directory.calls.length, calls);
    }
  });

  it('goes on where it stopped, and finds each once, when members have few of the rows', async () => {
    const all = rows(10_000, (at) => (at % 3_000 === 5 ? '7' : '5000'));
    const found: number[] = [];
    let from: Row | null = null;
    do {
      const start: Row | null = from;
      const page: { found: readonly Row[]; reached: Row | null } = await ofMembers<Row>(directoryOf(1_000), {
        workspaceId: '',
        size: 50,
        read: (members, last, limit) => readOf(all)(members, last ?? start, limit),
        pagesMax: 2,
      });
      found.push(...page.found.map(({ at }) => at));
      from = page.reached;
    } while (from !== null);
    assert.deepEqual(found, [5, 3_005, 6_005, 9_005]);
  });
});
