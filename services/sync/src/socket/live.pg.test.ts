import assert from 'node:assert/strict';
import { LIMITS } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { eventually, socketOf, testDatabase, type LiveSocket, type TestDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { replicaProcess } from '../../test/replica-process.ts';
import { openTestReplica, type TestReplica, type ReplicaOptions } from '../../test/replica.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** Each report collects all garbage twice. No socket is closed sooner than this, so the most of the memory is in one of them. */
const REPORT_EVERY_MS = 2_500;

/** The positions that one socket must receive after a cursor, in order. */
type Expected = (after: bigint) => string[];

describe('sockets while others write', () => {
  let stack: AsyncDisposableStack;
  let database: TestDatabase;
  let pool: Pool;
  let writer: LogWriter;

  before(async () => (database = await testDatabase('live', { migrated: true })));
  after(() => database.drop());
  beforeEach(() => {
    stack = new AsyncDisposableStack();
    pool = stack.adopt(new Pool({ connectionString: database.urlOf('wts_sync') }), (one) => one.end());
    writer = new LogWriter(pool);
  });
  afterEach(() => stack.disposeAsync());

  const replica = async (options: Partial<ReplicaOptions> = {}): Promise<TestReplica> =>
    stack.use(await openTestReplica({ pool, writer, ...options }));
  const connect = async (to: TestReplica, options: Parameters<typeof socketOf>[1]): Promise<LiveSocket> =>
    stack.use(await socketOf(to, options));

  async function people(count: number, workspace: string): Promise<string[]> {
    const users = Array.from({ length: count }, () => randomUUID() as string);
    for (const user of users) await writer.join(user, workspace);
    return users;
  }

  /** The entries of a person's own group and of these. */
  const visible = (user: string, groups: readonly string[] = []): Expected => {
    return (after) => writer.shown(user, [user, ...groups], after).map(({ syncId }) => syncId);
  };

  async function untilExactly(socket: LiveSocket, after: bigint, expected: Expected): Promise<void> {
    const wanted = expected(after);
    await socket.until(({ actions }) => actions.length >= wanted.length);
    assert.deepEqual(
      socket.actions.map(({ syncId }) => syncId),
      wanted,
    );
    assertAscending(socket);
  }

  function assertAscending(socket: LiveSocket): void {
    let cursor = 0n;
    for (const { packet } of socket.frames) {
      if (packet === undefined) continue;
      for (const { syncId } of packet.actions) {
        assert.ok(BigInt(syncId) > cursor, `${syncId} after ${cursor}`);
        cursor = BigInt(syncId);
      }
      assert.ok(BigInt(packet.lastSyncId) >= cursor);
      cursor = BigInt(packet.lastSyncId);
    }
  }

  for (const [what, options] of [
    ['from the ring', {}],
    ['from the log and the ring, which has almost no entries', { ring: { bytesMax: 5_000, ageMs: 60_000 } }],
  ] as const) {
    it(`a subscription from any cursor misses and repeats no entry, ${what} [sync.socket.catch-up, sync.socket.ascending]`, async () => {
      const at = await replica(options);
      const workspaces = [randomUUID(), randomUUID(), randomUUID()] as const;
      const users = await people(6, workspaces[0]);
      const begin = BigInt(writer.committed[0]!.syncId) - 1n;
      for (const user of users.slice(3)) await writer.join(user, workspaces[1]);
      const groupsOf = (index: number): string[] => [
        users[index]!,
        workspaces[0],
        ...(index >= 3 ? [workspaces[1]] : []),
      ];

      let isWriting = true;
      const writing = Array.from({ length: 6 }, async (_, number) => {
        for (let round = 0; isWriting || round < 15; round += 1) {
          const groupId = workspaces[(number + round) % 3]!;
          await writer.append(
            Array.from({ length: 1 + (round % 4) }, () => ({ groupId })),
            { silently: round % 17 === 0 },
          );
        }
      });
      const sockets: { socket: LiveSocket; after: bigint; index: number }[] = [];
      for (let count = 0; count < 6; count += 1) {
        const after = begin + BigInt(Math.floor(Math.random() * Number(at.hub.last - begin + 1n)));
        const index = count % users.length;
        sockets.push({ socket: await connect(at, { token: users[index]!, after: after.toString() }), after, index });
      }
      isWriting = false;
      await Promise.all(writing);
      for (const { socket, after, index } of sockets)
        await untilExactly(socket, after, visible(users[index]!, groupsOf(index)));
    });
  }

  it('a member who leaves and joins again gets no entry of the workspace between the loss and the next gain [sync.membership.in-order]', async () => {
    const at = await replica();
    const [home, other] = [randomUUID() as string, randomUUID() as string];
    const [user] = await people(1, home);
    const words = await connect(at, { token: user! });
    const letters = await connect(at, { token: user!, groups: [] });
    const narrowed = await connect(at, { token: user!, groups: [home, other] });
    const writers = [home, other].map(async (groupId) => {
      for (let round = 0; round < 30; round += 1) await writer.append([{ groupId }]);
    });
    for (let round = 0; round < 8; round += 1) {
      await writer.join(user!, other);
      await writer.append([{ groupId: other }, { groupId: home }]);
      await writer.leave(user!, other);
      await writer.append([{ groupId: other }, { groupId: home }]);
    }
    await Promise.all(writers);
    const last = (await writer.append([{ groupId: home }])).last;
    for (const socket of [words, letters, narrowed]) await socket.untilAction(({ syncId }) => syncId === last, 20_000);

    const isOwn = (groupId: string): boolean => groupId === user;
    for (const socket of [words, letters, narrowed]) {
      assertAscending(socket);
      let isMember = false;
      for (const action of writer.committed) {
        if (isOwn(action.groupId) && action.data['workspaceId'] === other) isMember = action.action === 'INSERT';
        if (action.groupId !== other || isMember) continue;
        assert.ok(
          !socket.actions.some(({ syncId }) => syncId === action.syncId),
          `${action.syncId} was received without membership`,
        );
      }
      // The groups that were never lost have no gap.
      const never = writer.shown(user!, [home, ...(socket === narrowed ? [] : [user!])]).map(({ syncId }) => syncId);
      const received = socket.actions.map(({ syncId }) => syncId);
      assert.deepEqual(
        received.filter((syncId) => never.includes(syncId)),
        never,
      );
    }
    const switches = letters.actions.filter(({ action }) => (action as string) === 'G');
    assert.equal(switches.length, 17);
    assert.deepEqual(switches.at(-1)?.data, { subscribedSyncGroups: [user, home] });
  });

  it('a loss that arrives outside the log takes effect immediately', async () => {
    const at = await replica();
    const home = randomUUID() as string;
    const [user] = await people(1, home);
    const socket = await connect(at, { token: user! });
    await pool.query('delete from sync.workspace_members where user_id = $1', [user]);
    at.socketServer.revoke({ kind: 'membership', userId: user!, workspaceId: home });
    await writer.append([{ groupId: home }]);
    const own = await writer.append([{ groupId: user! }]);
    await socket.untilAction(({ syncId }) => syncId === own.last);
    assert.ok(!socket.actions.some(({ syncId }) => BigInt(syncId) === BigInt(own.last) - 1n));
  });

  for (const [how, options, after] of [
    ['in its replay from the log', { ring: { bytesMax: 0, ageMs: 0 } }, 'beginning'],
    ['in its replay from the ring', {}, 'beginning'],
    ['live', {}, 'end'],
  ] as const) {
    it(`a credential limited to one workspace gets no entry of others, and no role of its person there, ${how} [never.shown-outside]`, async () => {
      const at = await replica(options);
      const [home, other, third] = [randomUUID() as string, randomUUID() as string, randomUUID() as string];
      const [user] = await people(1, home);
      const start = writer.last;
      const sockets: LiveSocket[] = [];
      // Waits until sockets have all entries, so that the change of role, neither gain nor loss, is a chunk of its own.
      const untilReceived = async (): Promise<void> => {
        const { last } = await writer.append([{ groupId: home }]);
        for (const socket of sockets) await socket.untilAction(({ syncId }) => syncId === last);
      };
      const changeMemberships = async (): Promise<void> => {
        await writer.join(user!, other);
        await untilReceived();
        const role = { modelName: 'WorkspaceMember', workspaceId: other, data: { workspaceId: other, role: 'owner' } };
        await writer.append([
          { ...role, groupId: other },
          { ...role, groupId: user! },
          { groupId: user!, workspaceId: null },
          { groupId: home },
        ]);
        await untilReceived();
        await writer.join(user!, third);
        await writer.leave(user!, other);
        await writer.append([{ groupId: other }, { groupId: home }]);
      };
      if (after === 'beginning') await changeMemberships();
      const token = `${user} in ${home}`;
      sockets.push(
        await connect(at, { token, after: start.toString() }),
        await connect(at, { token, after: start.toString(), groups: [] }),
        await connect(at, { token, after: start.toString(), groups: [user!, home, other, third] }),
      );
      // Another person, whose packets are shared, gets all entries.
      const whole = await connect(at, { token: user!, after: start.toString() });
      if (after === 'end') await changeMemberships();
      const wanted = writer.committed.filter(
        ({ syncId, workspaceId, groupId }) =>
          BigInt(syncId) > start && [user!, home].includes(groupId) && [home, null].includes(workspaceId),
      );
      assert.equal(wanted.length, 5);
      for (const socket of sockets) {
        assert.deepEqual(socket.frames[0]?.groups, [user, home]);
        await untilExactly(socket, start, () => wanted.map(({ syncId }) => syncId));
        assert.ok(![other, third].some((id) => JSON.stringify(socket.frames).includes(id)));
      }
      await whole.until(({ actions }) => JSON.stringify(actions).includes(third));
    });
  }

  it('clients that do not read take bounded memory, are closed and can resume; others are not affected [sync.socket.slow-reader, never.unbounded]', async () => {
    const home = randomUUID() as string;
    const [user] = await people(1, home);
    const after = writer.last.toString();
    const limits = { stalledMs: 4_000, pingMs: 600_000 };
    const at = await replicaProcess(stack, { databaseUrl: database.urlOf('wts_sync'), limits });
    const good = stack.use(await socketOf(at, { token: user!, after }));
    const stalled = await Promise.all(
      Array.from({ length: 8 }, async () => stack.use(await socketOf(at, { token: user!, after }))),
    );
    for (const socket of stalled) socket.pause();
    const before = await at.report();
    // There are 8 MB for each, of which the kernel holds at most half.
    const data = { title: 'x'.repeat(40_000) };
    for (let round = 0; round < 20; round += 1)
      await writer.append(Array.from({ length: 10 }, () => ({ groupId: home, data })));
    await untilExactly(good, BigInt(after), visible(user!, [home]));
    // Each may cost what it may leave unreceived plus one packet; the rest is the ring, and code that ran for the first time.
    const taken = (await at.report()).aliveBytes - before.aliveBytes;
    const eachBytes = LIMITS.socketUnsentBytesMax + SYNC_LIMITS.socketPacketBytesMax;
    const boundBytes = stalled.length * eachBytes + 6 * 1024 * 1024;
    assert.ok(taken < boundBytes, `${taken} bytes were taken, ${boundBytes} allowed`);
    await eventually(async () => (await at.sockets()) === 1);
    const one = stalled[0]!;
    one.resume();
    await one.until(({ ended }) => ended() !== null).catch(() => {});
    const again = stack.use(await socketOf(at, { token: user!, after: one.cursor() }));
    await untilExactly(again, BigInt(one.cursor()), visible(user!, [home]));
  });

  it('clients that are behind and do not read share a bound; beyond it each may leave less and is closed sooner [never.unbounded]', async () => {
    const home = randomUUID() as string;
    const [user] = await people(1, home);
    const after = writer.last.toString();
    const data = { title: 'x'.repeat(20_000) };
    for (let round = 0; round < 20; round += 1)
      await writer.append(Array.from({ length: 20 }, () => ({ groupId: home, data })));
    const ofAllBytes = 2 * 1024 * 1024;
    const at = await replicaProcess(stack, {
      databaseUrl: database.urlOf('wts_sync'),
      // For sockets that the shared bound no longer affects, because enough others were closed.
      limits: { stalledMs: 5_000, unsentBytesMax: 2 * 1024 * 1024, unsentOfAllBytesMax: ofAllBytes },
    });
    const before = await at.report();
    // On a busy machine the server cannot read for all of them in time; as it asks, they connect again.
    const opened = async (): Promise<LiveSocket> =>
      stack.use(await eventually(() => socketOf(at, { token: user!, after }), { everyMs: 100 }));
    const behind = Array.from({ length: 13 }, async () => {
      const socket = await opened();
      socket.pause();
      return socket;
    });
    const stalled = await Promise.all(behind);
    const good = await opened();
    let peakBytes = 0;
    await eventually(
      async () => {
        const { aliveBytes, sockets } = await at.report();
        peakBytes = Math.max(peakBytes, aliveBytes);
        return sockets === (good.ended() === null ? 1 : 0);
      },
      { everyMs: REPORT_EVERY_MS },
    );
    // On a busy machine this client may read slowly too; then it is closed, and goes on from its cursor.
    const from = good.ended() === null ? after : good.cursor();
    const reader = good.ended() === null ? good : stack.use(await socketOf(at, { token: user!, after: from }));
    await untilExactly(reader, BigInt(from), visible(user!, [home]));
    const taken = peakBytes - before.aliveBytes;
    // In addition to the bound: for each its minimum and one packet, and the pages being read.
    const boundBytes = ofAllBytes + stalled.length * 160 * 1024 + 16 * 1024 * 1024;
    assert.ok(taken < boundBytes, `${taken} bytes were taken, ${boundBytes} allowed`);
  });

  for (const [what, characters, count] of [
    ['small', 300, 2_000],
    ['large', 40_000, 200],
  ] as const)
    it(`for a client that catches up on ${what} entries, hardly more is read than it receives [never.unbounded]`, async () => {
      const home = randomUUID() as string;
      const [user] = await people(1, home);
      const data = { title: 'x'.repeat(characters) };
      for (let written = 0; written < count; written += 100)
        await writer.append(Array.from({ length: 100 }, () => ({ groupId: home, data })));
      let [read, largest] = [0, 0];
      const at = await replica({
        onPage: (entries) => {
          read += entries.length;
          largest = Math.max(largest, entries.length);
        },
      });
      const socket = await connect(at, { token: user! });
      await untilExactly(socket, 0n, visible(user!, [home]));
      assert.ok(read < 1.5 * count, `${read} entries were read for ${count}`);
      assert.ok(largest * characters < 8_000_000, `a page had ${largest} entries of ${characters} characters`);
    });

  it('half-open connections are closed [sync.socket.ping]', async () => {
    const at = await replica({ limits: { pingMs: 60, tickMs: 10 } });
    const home = randomUUID() as string;
    const [user] = await people(1, home);
    const socket = await connect(at, { token: user! });
    await eventually(() => at.socketServer.size === 1);
    socket.pause();
    await eventually(() => at.socketServer.size === 0);
  });

  it('a client in letters that loses a private project must load again if it had the project, and continues if not [sync.client.compatible]', async () => {
    const at = await replica();
    const [home, project] = [randomUUID() as string, randomUUID() as string];
    const [user] = (await people(1, home)) as [string];
    const after = writer.last.toString();
    const having = await connect(at, { token: user, after, groups: [user, home, project] });
    const others = await connect(at, { token: user, after, groups: [user, home] });
    const words = await connect(at, { token: user, after });
    const data = { projectId: project, userId: user };
    await writer.append([{ groupId: user, action: 'DELETE', modelName: 'ProjectMember', data }]);
    await having.until(({ frames }) => frames.some(({ code }) => code === 'BOOTSTRAP_REQUIRED'));
    const switched = await others.untilAction(({ modelId }) => modelId === user);
    assert.equal(switched.action, 'G');
    await words.untilAction(({ modelName }) => modelName === 'ProjectMember');
    assert.deepEqual(having.actions, []);
  });
});
