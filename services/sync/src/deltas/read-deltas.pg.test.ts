import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Fault, type DeltasReply, type StoredEntry } from '@wts/contracts';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import * as fc from 'fast-check';
import { readEntries } from '@wts/log';
import { Pool } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { clampLimit, deltasSources, readDeltas, type DeltasRequest, type DeltasSources } from './read-deltas.ts';
import { SYNC_LIMITS } from '../limits.ts';

describe('deltas', () => {
  let database: TestDatabase;
  let pool: Pool;
  let writer: LogWriter;
  let sources: DeltasSources;
  const [user, home, other, foreign]: [string, string, string, string] = [
    randomUUID(),
    randomUUID(),
    randomUUID(),
    randomUUID(),
  ];

  before(async () => {
    database = await testDatabase('deltas', { migrated: true });
    pool = new Pool({ connectionString: database.urlOf('wts_sync') });
    writer = new LogWriter(pool);
    sources = deltasSources(pool, null);
    // A member of home throughout; of other with two losses and gains, at the end a member.
    await writer.append([{ groupId: home, action: 'INSERT' }, { groupId: other }]);
    await writer.join(user, home);
    for (let round = 0; round < 3; round += 1) {
      await writer.join(user, other);
      await some();
      if (round === 2) break;
      await writer.leave(user, other);
      await some();
    }
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  async function some(): Promise<void> {
    await writer.append([{ groupId: other }, { groupId: foreign }, { groupId: home }, { groupId: other }]);
  }

  async function read(request: Partial<DeltasRequest> = {}): Promise<DeltasReply> {
    const text = await readDeltas(sources, {
      userId: user,
      after: 0n,
      limit: 1000,
      requested: new Set(),
      spelling: 'words',
      ...request,
    });
    return JSON.parse(text) as DeltasReply;
  }

  const head = (): bigint => BigInt(writer.committed.at(-1)!.syncId);

  const expected = (requested: readonly string[] = []): StoredEntry[] => {
    const groups = [user, home, other];
    return writer.shown(user, requested.length === 0 ? groups : groups.filter((group) => requested.includes(group)));
  };

  it('a page has the entries of each group after the latest gain of it, and none before, also within one commit [sync.membership.from-gain, sync.deltas.own-groups, sync.deltas.answer]', async () => {
    const { actions, hasMore, lastSyncId } = await read();
    assert.deepEqual(
      actions.map(({ syncId }) => syncId),
      expected().map(({ syncId }) => syncId),
    );
    assert.equal(hasMore, false);
    assert.equal(lastSyncId, head().toString());
  });

  it('pages of any size, from any cursor, for any groups, have the same entries in the same order [sync.deltas.paging, sync.deltas.after-exclusive]', async () => {
    const groups = fc.subarray([user, home, other, foreign]);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 9 }),
        fc.bigInt(0n, head()),
        groups,
        async (limit, from, requested) => {
          const received: string[] = [];
          let after = from;
          for (;;) {
            const { actions, hasMore, lastSyncId } = await read({ after, limit, requested: new Set(requested) });
            assert.ok(actions.length <= limit && (!hasMore || actions.length > 0));
            received.push(...actions.map(({ syncId }) => syncId));
            assert.ok(BigInt(lastSyncId) >= BigInt(actions.at(-1)?.syncId ?? after));
            after = BigInt(lastSyncId);
            if (!hasMore) break;
          }
          const wanted = expected(requested).filter(({ syncId }) => BigInt(syncId) > from);
          assert.deepEqual(
            received,
            wanted.map(({ syncId }) => syncId),
          );
          assert.equal(after, head());
        },
      ),
      { numRuns: 30 },
    );
  });

  it('a page has each entry as it is stored in the log [sync.action.fields, sync.action.sync-id, sync.deltas.answer]', async () => {
    const { actions } = await read();
    for (const [index, wanted] of expected().entries()) {
      const { syncId, modelName, modelId, action, data, groupId, clientTxId, clientId, createdAt } = wanted;
      assert.deepEqual(actions[index], {
        syncId,
        modelName,
        modelId,
        action,
        data,
        groupId,
        clientTxId,
        clientId,
        createdAt,
      });
    }
  });

  it('in letters, each gain and loss lists the groups that the caller reads from there on [sync.membership.from-gain]', async () => {
    const { actions } = await read({ spelling: 'letters' });
    const switches = actions
      .filter(({ action }) => (action as string) === 'G')
      .map(({ data }) => data['subscribedSyncGroups']);
    const [without, with_] = [
      [user, home],
      [user, ...[home, other].sort()],
    ];
    // A group that was gained and lost again is not listed.
    assert.deepEqual(switches, [without, without, without, without, without, with_]);
    assert.deepEqual(
      actions.map(({ syncId }) => syncId),
      expected().map(({ syncId }) => syncId),
    );
  });

  it('a caller who names only groups of others gets no entry, and their cursor advances [sync.deltas.horizon]', async () => {
    assert.deepEqual(await read({ requested: new Set([foreign]) }), {
      lastSyncId: head().toString(),
      hasMore: false,
      actions: [],
    });
  });

  it('a credential for one workspace gets no entries of others, and none of its person in others [never.shown-outside]', async () => {
    for (const spelling of ['words', 'letters'] as const) {
      for (const requested of [new Set<string>(), new Set([user, home, other])]) {
        const { actions, lastSyncId } = await read({ workspaceId: home, spelling, requested });
        assert.equal(lastSyncId, head().toString());
        assert.ok(actions.some(({ groupId }) => groupId === user));
        assert.ok(!JSON.stringify(actions).includes(other));
        const wanted = expected([user, home]).filter(({ workspaceId }) => workspaceId === home);
        assert.deepEqual(
          actions.map(({ syncId }) => syncId),
          wanted.map(({ syncId }) => syncId),
        );
      }
    }
  });

  it('a loss in another workspace requires no bootstrap of a credential for one workspace [never.shown-outside]', async () => {
    const project = randomUUID() as string;
    const before = head();
    const loss = { groupId: user, action: 'DELETE' as const, modelName: 'ProjectMember' };
    await writer.append([{ ...loss, workspaceId: other, data: { projectId: project, userId: user } }]);
    const requested = new Set([user, home, project]);
    const { actions, lastSyncId } = await read({ after: before, workspaceId: home, spelling: 'letters', requested });
    assert.deepEqual([actions, lastSyncId], [[], head().toString()]);
  });

  it('a reader of thousands of groups gets the same page as a reader of few', async () => {
    const many = Array.from({ length: 200 }, () => randomUUID() as string);
    const range = { after: 3n, limit: 7, upTo: head() - 2n };
    const few = await readEntries(pool, { ...range, groups: new Set([home, other]) });
    assert.deepEqual(await readEntries(pool, { ...range, groups: new Set([...many, home, other]) }), few);
    assert.equal(few.entries.length, 7);
  });

  it('a cursor below the floor or beyond the head is refused in words, and gets an empty page in letters [sync.deltas.stale-cursor]', async () => {
    const isBootstrap = (error: unknown): boolean => error instanceof Fault && error.code === 'bootstrap_required';
    await assert.rejects(read({ after: head() + 1n }), isBootstrap);
    const nothing = { lastSyncId: (head() + 1n).toString(), hasMore: false, actions: [] };
    assert.deepEqual(await read({ after: head() + 1n, spelling: 'letters' }), nothing);
    await pool.query('update sync.log_state set floor = 5');
    try {
      await assert.rejects(read({ after: 4n }), isBootstrap);
      await assert.rejects(read(), isBootstrap);
      assert.equal((await read({ after: 5n })).hasMore, false);
      assert.deepEqual((await read({ after: 4n, spelling: 'letters' })).lastSyncId, '4');
    } finally {
      await pool.query('update sync.log_state set floor = 0');
    }
  });

  it('in letters, a page ends before the loss of a private project that the caller has, because they must load again [sync.client.compatible]', async () => {
    const project = randomUUID() as string;
    const before = head();
    const loss = { groupId: user, action: 'DELETE' as const, modelName: 'ProjectMember' };
    const { first } = await writer.append([
      { groupId: home },
      { ...loss, data: { projectId: project, userId: user } },
      { groupId: home },
    ]);
    const having = await read({ after: before, spelling: 'letters', requested: new Set([user, home, project]) });
    assert.deepEqual([having.actions.length, having.hasMore, having.lastSyncId], [1, false, first]);
    const { lastSyncId } = await read({ after: before, spelling: 'letters', requested: new Set([user, home]) });
    assert.equal(lastSyncId, head().toString());
    assert.equal((await read({ after: before, requested: new Set([user, home, project]) })).actions.length, 3);
  });

  it('the page size is clamped to its bounds [sync.deltas.limit-clamped]', () =>
    assert.deepEqual([undefined, '0', '1', '5000', '9'.repeat(64)].map(clampLimit), [1000, 1, 1, 5000, 5000]));

  it('a page ends at its size in bytes, and hardly more is read than it has [sync.deltas.paging, never.unbounded]', async () => {
    const start = head();
    const data = { title: 'x'.repeat(50_000) };
    for (let round = 0; round < 3; round += 1)
      await writer.append(Array.from({ length: 40 }, () => ({ groupId: home, data })));
    const received: string[] = [];
    let [read, after] = [0, start];
    const counted: DeltasSources = {
      ...sources,
      readPage: async (...range) => {
        const page = await sources.readPage(...range);
        read = page.entries.length;
        return page;
      },
      readFirst: async (...asked) => {
        const first = await sources.readFirst(...asked);
        read = first?.page.entries.length ?? 0;
        return first;
      },
    };
    for (let hasMore = true; hasMore;) {
      const request = { userId: user, after, limit: 5000, requested: new Set<string>(), spelling: 'words' } as const;
      const text = await readDeltas(counted, request);
      assert.ok(text.length < SYNC_LIMITS.deltasBytesMax + 100_000, `a page of ${text.length} bytes`);
      assert.ok(read < 300, `${read} entries were read in one step`);
      const page = JSON.parse(text) as DeltasReply;
      received.push(...page.actions.map(({ syncId }) => syncId));
      after = BigInt(page.lastSyncId);
      ({ hasMore } = page);
    }
    const wanted = expected().filter(({ syncId }) => BigInt(syncId) > start);
    assert.deepEqual(
      received,
      wanted.map(({ syncId }) => syncId),
    );
    assert.equal(after, head());
  });

  // The last test, because it makes the log long.
  it('entries that the caller may not see are skipped in few reads, also with a small limit [never.unbounded]', async () => {
    const after = head();
    for (let count = 0; count < 40; count += 1)
      await writer.append(Array.from({ length: 50 }, () => ({ groupId: user })));
    const [shown] = (await writer.append([{ groupId: home }, { groupId: home }])).actions;
    let pages = 0;
    const counted: DeltasSources = {
      ...sources,
      readPage: (...range) => {
        pages += 1;
        return sources.readPage(...range);
      },
      readFirst: (...asked) => {
        pages += 1;
        return sources.readFirst(...asked);
      },
    };
    const request = { userId: user, limit: 1, requested: new Set([home]), spelling: 'words' } as const;
    const first = JSON.parse(await readDeltas(counted, { ...request, after })) as DeltasReply;
    assert.ok(pages <= 12, `${pages} pages were read`);
    assert.deepEqual(
      first.actions.map(({ syncId }) => syncId),
      [shown?.syncId],
    );
    assert.deepEqual([first.lastSyncId, first.hasMore], [shown?.syncId, true]);
    const rest = JSON.parse(await readDeltas(counted, { ...request, after: BigInt(first.lastSyncId) })) as DeltasReply;
    assert.deepEqual([rest.actions.length, rest.hasMore, rest.lastSyncId], [1, false, head().toString()]);
  });
});
