import type { ActionName, InternalMutation } from '@wts/contracts';
import type { Person, TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { auditNewcomer } from '../audit-live.ts';
import { listenByPolling, listenBySocket, type Listener, type SocketListener } from '../listeners.ts';
import { send } from '../load/writers.ts';
import type { DeliveryCheck } from './delivery-check.ts';

const STAYS_MS = 3_000;
const RETRY_MS = 500;
const HIDES_EVERY_MS = 1_000;
const WANDERS_EVERY_MS = 1_500;
/** A wanderer goes back no further, so that one after the other is there in time. */
const WANDERS_BACK_MAX = 5_000;
const CATCHES_UP_MS = 60_000;
const ARRIVES_EVERY_MS = 20_000;
/** What a newcomer loads when it is calm: large snapshots are kept for a while, and would look like growth. */
const SMALL_MODELS = ['Workspace', 'WorkspaceMember', 'User', 'Project'];

export interface Scene {
  readonly testSystem: TestSystem;
  readonly check: DeliveryCheck;
  /** The place from which everybody expects. */
  readonly start: string;
  readonly stop: AbortSignal;
  readonly isCalm: () => boolean;
  readonly stack: AsyncDisposableStack;
}

/**
 * Everybody who listens: steady sockets, a poller, one that reads in fits, one whose network is bad, a visitor who comes and
 * goes, one who hides and shows work, wanderers who begin anywhere, and newcomers who load everything.
 */
export async function gather(scene: Scene, sockets: number): Promise<Promise<void>[]> {
  const { testSystem, check, start, stack } = scene;
  const join = (name: string): SocketListener => {
    const listener = stack.use(listenBySocket(ownerOf(testSystem), name, start));
    check.watch(listener, { groups: [testSystem.userId, testSystem.workspaceId] }, BigInt(start));
    return listener;
  };
  for (let index = 1; index <= sockets; index += 1) join(`socket ${index}`);
  const poller = stack.use(listenByPolling(ownerOf(testSystem), 'poller', start));
  check.watch(poller, { groups: [testSystem.userId, testSystem.workspaceId] }, BigInt(start));
  const slow = join('slow socket');
  const restless = join('restless socket');
  return [
    readInFits(slow, scene),
    loseTheNetwork(restless, scene),
    comeAndGo(await visitor(scene), scene),
    hideAndShow(await hider(scene), scene),
    wander(scene),
    arrive(scene),
  ];
}

/** The place where the log is when nothing has happened but the demo workspace, which is no part of a soak. */
export async function headOf(testSystem: TestSystem): Promise<string> {
  await using socket = await testSystem.socket({ after: '1' });
  await socket.until(({ actions }) => actions.length > 0);
  return socket.cursor();
}

function ownerOf({ baseUrl, apiKey }: TestSystem): { baseUrl: string; token: string } {
  return { baseUrl, token: apiKey };
}

/** Asleep for up to half a minute: the server stops feeding it, or closes it, and it goes on from its cursor. */
async function readInFits(listener: SocketListener, { stop }: Scene): Promise<void> {
  while (!stop.aborted) {
    await rest(2_000 + Math.random() * 6_000, stop);
    listener.pause();
    await rest(3_000 + Math.random() * 25_000, stop);
    listener.resume();
  }
  listener.resume();
}

async function loseTheNetwork(listener: SocketListener, { stop }: Scene): Promise<void> {
  while (!stop.aborted) {
    await rest(500 + Math.random() * 4_000, stop);
    listener.cut();
  }
}

async function visitor({ testSystem, check, start, stack }: Scene): Promise<Person> {
  const person = await testSystem.person('Visitor');
  const target = { baseUrl: testSystem.baseUrl, token: person.token };
  for (const listener of [
    listenBySocket(target, 'visiting socket', start),
    listenByPolling(target, 'visiting poller', start),
  ])
    check.watch(stack.use(listener), { visitor: person.userId }, BigInt(start));
  return person;
}

/** A membership that begins and ends all the time. */
async function comeAndGo({ userId }: Person, { testSystem, stop }: Scene): Promise<void> {
  while (!stop.aborted) {
    const modelId = randomUUID();
    const payload = { workspaceId: testSystem.workspaceId, userId, role: 'member' };
    const join = { modelName: 'WorkspaceMember', modelId, action: 'INSERT', payload } as const;
    const leave = { modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} } as const;
    for (const change of [join, leave]) {
      await insist(() => isCommitted(testSystem, change), stop);
      await rest(STAYS_MS * (0.5 + Math.random()), stop);
    }
  }
}

/** Refused counts as done: it was, by a try whose answer got lost. */
async function isCommitted(testSystem: TestSystem, change: InternalMutation): Promise<true | null> {
  try {
    await testSystem.commit([change]);
    return true;
  } catch (error) {
    return /answers 4\d\d/.test((error as Error).message) ? true : null;
  }
}

interface Hider {
  readonly token: string;
  readonly clientId: string;
  readonly projectId: string;
  readonly taskId: string;
}

/** The member of a private project: expects of it and of the workspace, which does not hear of it. */
async function hider({ testSystem, check, stop, stack }: Scene): Promise<Hider> {
  const { userId, token } = await testSystem.member('Hider');
  const { workspaceId, baseUrl } = testSystem;
  const self = { token, clientId: randomUUID(), projectId: randomUUID(), taskId: randomUUID() };
  const project = { workspaceId, key: 'HIDDEN', name: 'Hidden', isPrivate: true };
  await change(testSystem, self, ['Project', self.projectId, 'INSERT', project], stop);
  const task = { workspaceId, title: 'Seen and unseen' };
  const from = await change(testSystem, self, ['Task', self.taskId, 'INSERT', task], stop);
  const listener = stack.use(listenBySocket({ baseUrl, token }, 'hiding socket', from));
  check.watch(listener, { groups: [userId, workspaceId, self.projectId] }, BigInt(from));
  return self;
}

/** A task goes into the private project and out of it: each time it ends on one side and begins on the other. */
async function hideAndShow(self: Hider, { testSystem, stop }: Scene): Promise<void> {
  for (let isHidden = true; !stop.aborted; isHidden = !isHidden) {
    const move = { projectId: isHidden ? self.projectId : null };
    await change(testSystem, self, ['Task', self.taskId, 'UPDATE', move], stop);
    await rest(HIDES_EVERY_MS * (0.5 + Math.random()), stop);
  }
}

type Change = readonly [modelName: string, modelId: string, action: ActionName, payload: { [field: string]: unknown }];

/** Resolves to the place of it. */
async function change(
  { baseUrl }: TestSystem,
  { token, clientId }: Hider,
  [modelName, modelId, action, payload]: Change,
  stop: AbortSignal,
): Promise<string> {
  const transaction = { clientTxId: randomUUID(), clientId, modelName, modelId, action, payload };
  const result = (await insist(() => send(baseUrl, token, [transaction]), stop))?.[0];
  if (result?.success === false) throw new Error(`${action} of a ${modelName} was refused: ${result.error}`);
  return result?.syncId ?? '0';
}

/** One after the other begins anywhere in the log, and must get exactly what follows. */
async function wander({ testSystem, check, start, stop }: Scene): Promise<void> {
  for (let visit = 1; !stop.aborted; visit += 1) {
    await rest(WANDERS_EVERY_MS * (0.5 + Math.random()), stop);
    const reached = check.reached;
    const back = Math.min(WANDERS_BACK_MAX, Number(reached - BigInt(start)));
    const from = reached - BigInt(Math.floor(Math.random() * (back + 1)));
    const listener = listenBySocket(ownerOf(testSystem), `wanderer ${visit}`, String(from));
    check.watch(listener, { groups: [testSystem.userId, testSystem.workspaceId] }, from);
    if (!(await comesTo(listener, reached, stop)))
      check.report([{ promise: 'nobody-stands-still', seen: `${listener.name} stands still at ${listener.at()}` }]);
    check.dismiss(listener);
  }
}

async function comesTo({ at }: Listener, place: bigint, stop: AbortSignal): Promise<boolean> {
  const deadlineMs = performance.now() + CATCHES_UP_MS;
  while (at() < place && !stop.aborted && performance.now() < deadlineMs) await rest(50, stop);
  return at() >= place || stop.aborted;
}

/** New clients load a snapshot, follow what comes after it, and compare their copy with the tables. */
async function arrive({ testSystem, check, stop, isCalm }: Scene): Promise<void> {
  const groups = [testSystem.userId, testSystem.workspaceId];
  while (!stop.aborted) {
    await rest(ARRIVES_EVERY_MS * (0.5 + Math.random()), stop);
    if (stop.aborted) return;
    const models = isCalm() ? [SMALL_MODELS] : [];
    await check.withLog(
      async (client) => (await auditNewcomer(client, ownerOf(testSystem), groups, ...models)).findings,
    );
  }
}

/** Until it is answered; null when nobody waits for it any more. */
async function insist<T>(attempt: () => Promise<T | null>, stop: AbortSignal): Promise<T | null> {
  while (!stop.aborted) {
    const answer = await attempt();
    if (answer !== null) return answer;
    await rest(RETRY_MS, stop);
  }
  return null;
}

function rest(ms: number, stop: AbortSignal): Promise<void> {
  return pause(ms, undefined, { signal: stop }).catch(() => undefined);
}
