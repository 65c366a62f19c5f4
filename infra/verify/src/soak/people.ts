import type { Person, World } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { listenByPolling, listenBySocket, type SocketListener } from '../listeners.ts';
import type { Court } from './court.ts';

const STAYS_MS = 3_000;
const RETRY_MS = 500;
const COMMIT_CALLS_MAX = 200;

/** Everybody who listens: steady ones, a poller, one that reads in fits, one whose network is bad, and a visitor. */
export async function gather(
  world: World,
  court: Court,
  stop: AbortSignal,
  hears: AsyncDisposableStack,
): Promise<Promise<void>[]> {
  const owner = { baseUrl: world.baseUrl, token: world.apiKey };
  const start = await headOf(world);
  const join = (name: string): SocketListener => {
    const listener = hears.use(listenBySocket(owner, name, start));
    court.watch(listener, world.userId, BigInt(start));
    return listener;
  };
  for (let index = 1; index <= 4; index += 1) join(`socket ${index}`);
  const poller = hears.use(listenByPolling(owner, 'poller', start));
  court.watch(poller, world.userId, BigInt(start));
  const slow = join('slow socket');
  const restless = join('restless socket');

  const visitor = await world.person('Visitor');
  const target = { baseUrl: world.baseUrl, token: visitor.token };
  for (const listener of [
    listenBySocket(target, 'visiting socket', start),
    listenByPolling(target, 'visiting poller', start),
  ])
    court.watch(hears.use(listener), visitor.userId, BigInt(start), true);
  return [readInFits(slow, stop), loseTheNetwork(restless, stop), comeAndGo(world, visitor, stop)];
}

async function headOf(world: World): Promise<string> {
  await using socket = await world.socket({ after: '1' });
  // What the demo workspace began with is no part of the soak.
  await socket.until(({ actions }) => actions.length > 0);
  return socket.cursor();
}

/** Asleep for up to half a minute: the server stops feeding it, or closes it, and it goes on from its cursor. */
async function readInFits(listener: SocketListener, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await rest(2_000 + Math.random() * 6_000, stop);
    listener.pause();
    await rest(3_000 + Math.random() * 25_000, stop);
    listener.resume();
  }
  listener.resume();
}

async function loseTheNetwork(listener: SocketListener, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await rest(500 + Math.random() * 4_000, stop);
    listener.cut();
  }
}

/** A membership that begins and ends all the time. What is not answered is asked for again, as the same change. */
async function comeAndGo(world: World, { userId }: Person, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const modelId = randomUUID();
    const payload = { workspaceId: world.workspaceId, userId, role: 'member' };
    await insist(() => world.commit([{ modelName: 'WorkspaceMember', modelId, action: 'INSERT', payload }]), stop);
    await rest(STAYS_MS * (0.5 + Math.random()), stop);
    await insist(() => world.commit([{ modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} }]), stop);
    await rest(STAYS_MS * (0.5 + Math.random()), stop);
  }
}

/** Until it is done, or was done by a try whose answer got lost: then it is refused, and that is as good. */
async function insist(change: () => Promise<unknown>, stop: AbortSignal): Promise<void> {
  for (let call = 0; call < COMMIT_CALLS_MAX && !stop.aborted; call += 1) {
    try {
      await change();
      return;
    } catch (error) {
      if (/answers 4\d\d/.test((error as Error).message)) return;
      await rest(RETRY_MS, stop);
    }
  }
}

function rest(ms: number, stop: AbortSignal): Promise<void> {
  return pause(ms, undefined, { signal: stop }).catch(() => undefined);
}
