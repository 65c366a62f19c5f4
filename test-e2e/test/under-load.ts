import { eventually, type TestSystem } from '@wts/testkit';
import {
  checkSystem,
  completeUntil,
  followByPolling,
  followBySocket,
  readStartState,
  writeUntil,
  type Follower,
  type Written,
} from '@wts/verify';
import assert from 'node:assert/strict';

const WRITERS = 4;
/** Of each writer: a rate that leaves the processors time for the recovery, with changes under way at any moment. */
const WRITES_EVERY_MS = 100;
const SOCKETS = 3;
const POLLS_EVERY_MS = 200;
/** Every follower must receive so many more entries before the system counts as working. */
const MORE = 10;

/** Resolves when every follower has received more. */
type ReceivedMore = () => Promise<unknown>;

/**
 * Writes and follows while `disturb` runs and until every follower has received more, so that the recovery is under load too. Then it
 * runs all audits. With `completes`, tasks that repeat are completed too.
 */
export async function underLoad(
  testSystem: TestSystem,
  disturb: (receivedMore: ReceivedMore) => Promise<void>,
  { completes = false } = {},
): Promise<Written> {
  await using open = new AsyncDisposableStack();
  const start = await readStartState(testSystem);
  const account = { baseUrl: testSystem.baseUrl, token: testSystem.apiKey };
  const followers: Follower[] = Array.from({ length: SOCKETS }, (_, index) =>
    open.use(followBySocket(account, `socket ${index}`, start.after)),
  );
  followers.push(open.use(followByPolling(account, 'poller', start.after, POLLS_EVERY_MS)));
  const stop = new AbortController();
  const writing = writeUntil(testSystem, WRITERS, WRITES_EVERY_MS, stop.signal);
  const completing = completes ? completeUntil(testSystem, stop.signal, WRITES_EVERY_MS) : null;
  const receivedMore = (): Promise<unknown> => {
    const before = followers.map(({ received }) => received.length);
    const more = (): boolean => followers.every(({ received }, index) => received.length > (before[index] ?? 0) + MORE);
    return Promise.race([eventually(more), writing]);
  };
  try {
    await receivedMore();
    // A writer whose change is refused ends the test at once.
    await Promise.race([disturb(receivedMore), writing]);
    await receivedMore();
  } finally {
    stop.abort();
  }
  const written = await writing;
  assert.deepEqual((await completing) ?? [], []);
  await eventually(async () => (await fetch(`${testSystem.baseUrl}/ready`)).ok);
  assert.deepEqual(await checkSystem(testSystem, followers, start, written), []);
  assert.ok(written.acknowledged.size > 0, 'nothing was written');
  return written;
}
