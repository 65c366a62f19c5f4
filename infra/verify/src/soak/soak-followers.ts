import type { ActionName, InternalMutation } from '@wts/contracts';
import type { Person } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import type { CheckedSystem } from '../checked-system.ts';
import { auditNewCopy } from '../audit-live.ts';
import { followByPolling, followBySocket, type Account, type Follower, type SocketFollower } from '../followers.ts';
import { send } from '../load/writers.ts';
import type { DeliveryCheck } from './delivery-check.ts';
import { rest } from '../rest.ts';

const MEMBERSHIP_MS = 3_000;
const RETRY_MS = 500;
const MOVE_EVERY_MS = 1_000;
const START_EVERY_MS = 1_500;
/** A follower starts at most so many entries before the slowest one, so that it can catch up in time. */
const START_BEHIND_MAX = 5_000;
const CATCH_UP_MS = 60_000;
const COPY_EVERY_MS = 20_000;
/** The models of a new copy in the calm part. Services cache large snapshots for a while, which looks like growth. */
const SMALL_MODELS = ['Workspace', 'WorkspaceMember', 'User', 'Project'];

export interface SoakContext {
  readonly testSystem: CheckedSystem;
  readonly check: DeliveryCheck;
  /** The position after which every follower expects entries. */
  readonly start: string;
  readonly stop: AbortSignal;
  readonly isCalm: () => boolean;
  readonly stack: AsyncDisposableStack;
}

/**
 * Starts all followers: sockets, a poller, a socket that reads in bursts, one whose connection is cut, one of a person whose
 * membership comes and goes, one of a person who moves work into a private project, followers that start anywhere in the
 * log, and clients that load new copies.
 */
export async function startFollowers(context: SoakContext, sockets: number): Promise<Promise<void>[]> {
  const { testSystem, check, start, stack } = context;
  const follow = (name: string): SocketFollower => {
    const follower = stack.use(followBySocket(ownerOf(testSystem), name, start));
    check.watch(follower, { groups: [testSystem.userId, testSystem.workspaceId] }, BigInt(start));
    return follower;
  };
  for (let index = 1; index <= sockets; index += 1) follow(`socket ${index}`);
  const poller = stack.use(followByPolling(ownerOf(testSystem), 'poller', start));
  check.watch(poller, { groups: [testSystem.userId, testSystem.workspaceId] }, BigInt(start));
  const slow = follow('slow socket');
  const interrupted = follow('interrupted socket');
  return [
    readInBursts(slow, context),
    cutConnections(interrupted, context),
    joinAndLeave(await temporaryMember(context), context),
    moveInAndOut(await projectMember(context), context),
    startAnywhere(context),
    loadNewCopies(context),
  ];
}

/** The head of the log before the soak: the demo workspace is no part of it. */
export async function headOf(testSystem: CheckedSystem): Promise<string> {
  await using socket = await testSystem.socket({ after: '1' });
  await socket.until(({ actions }) => actions.length > 0);
  return socket.cursor();
}

function ownerOf({ baseUrl, apiKey }: CheckedSystem): Account {
  return { baseUrl, token: apiKey };
}

/** Stops reading for up to half a minute: the server stops sending or closes the socket, and it resumes from its cursor. */
async function readInBursts(follower: SocketFollower, { stop }: SoakContext): Promise<void> {
  while (!stop.aborted) {
    await rest(2_000 + Math.random() * 6_000, stop);
    follower.pause();
    await rest(3_000 + Math.random() * 25_000, stop);
    follower.resume();
  }
  follower.resume();
}

async function cutConnections(follower: SocketFollower, { stop }: SoakContext): Promise<void> {
  while (!stop.aborted) {
    await rest(500 + Math.random() * 4_000, stop);
    follower.cut();
  }
}

async function temporaryMember({ testSystem, check, start, stack }: SoakContext): Promise<Person> {
  const person = await testSystem.person('Temporary member');
  const account = { baseUrl: testSystem.baseUrl, token: person.token };
  for (const follower of [
    followBySocket(account, 'socket of the temporary member', start),
    followByPolling(account, 'poller of the temporary member', start),
  ])
    check.watch(stack.use(follower), { temporaryMember: person.userId }, BigInt(start));
  return person;
}

async function joinAndLeave({ userId }: Person, { testSystem, stop }: SoakContext): Promise<void> {
  while (!stop.aborted) {
    const modelId = randomUUID();
    const payload = { workspaceId: testSystem.workspaceId, userId, role: 'member' };
    const join = { modelName: 'WorkspaceMember', modelId, action: 'INSERT', payload } as const;
    const leave = { modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} } as const;
    for (const change of [join, leave]) {
      await retry(() => commit(testSystem, change), stop);
      await rest(MEMBERSHIP_MS * (0.5 + Math.random()), stop);
    }
  }
}

/** Resolves to null when it has to be retried. A refusal is a success: an earlier attempt, whose response was lost, did it. */
async function commit(testSystem: CheckedSystem, change: InternalMutation): Promise<true | null> {
  try {
    await testSystem.commit([change]);
    return true;
  } catch (error) {
    return /answers 4\d\d/.test((error as Error).message) ? true : null;
  }
}

interface ProjectMember {
  readonly token: string;
  readonly clientId: string;
  readonly projectId: string;
  readonly taskId: string;
}

/** The only member of a private project, who must receive the entries of the project and of the workspace. */
async function projectMember({ testSystem, check, stop, stack }: SoakContext): Promise<ProjectMember> {
  const { userId, token } = await testSystem.member('Project member');
  const { workspaceId, baseUrl } = testSystem;
  const self = { token, clientId: randomUUID(), projectId: randomUUID(), taskId: randomUUID() };
  const project = { workspaceId, key: 'HIDDEN', name: 'Hidden', isPrivate: true };
  await change(testSystem, self, ['Project', self.projectId, 'INSERT', project], stop);
  const task = { workspaceId, title: 'Moved in and out' };
  const from = await change(testSystem, self, ['Task', self.taskId, 'INSERT', task], stop);
  const follower = stack.use(followBySocket({ baseUrl, token }, 'socket of the project member', from));
  check.watch(follower, { groups: [userId, workspaceId, self.projectId] }, BigInt(from));
  return self;
}

/** Moves a task into the private project and out of it: each time one group gets a DELETE and the other an INSERT. */
async function moveInAndOut(self: ProjectMember, { testSystem, stop }: SoakContext): Promise<void> {
  for (let isHidden = true; !stop.aborted; isHidden = !isHidden) {
    const move = { projectId: isHidden ? self.projectId : null };
    await change(testSystem, self, ['Task', self.taskId, 'UPDATE', move], stop);
    await rest(MOVE_EVERY_MS * (0.5 + Math.random()), stop);
  }
}

export type Change = readonly [
  modelName: string,
  modelId: string,
  action: ActionName,
  payload: { [field: string]: unknown },
];

/** Resolves to the position of the change. */
export async function change(
  { baseUrl }: CheckedSystem,
  { token, clientId }: Pick<ProjectMember, 'token' | 'clientId'>,
  [modelName, modelId, action, payload]: Change,
  stop: AbortSignal,
): Promise<string> {
  const transaction = { clientTxId: randomUUID(), clientId, modelName, modelId, action, payload };
  const result = (await retry(() => send(baseUrl, token, [transaction]), stop))?.[0];
  if (result?.success === false) throw new Error(`the service refused ${action} of a ${modelName}: ${result.error}`);
  return result?.syncId ?? '0';
}

/** Starts one follower after another anywhere in the log. Each must receive exactly the entries after its start. */
async function startAnywhere({ testSystem, check, start, stop }: SoakContext): Promise<void> {
  for (let count = 1; !stop.aborted; count += 1) {
    await rest(START_EVERY_MS * (0.5 + Math.random()), stop);
    const reached = check.reached;
    const behindMax = Math.min(START_BEHIND_MAX, Number(reached - BigInt(start)));
    const from = reached - BigInt(Math.floor(Math.random() * (behindMax + 1)));
    const follower = followBySocket(ownerOf(testSystem), `short socket ${count}`, String(from));
    check.watch(follower, { groups: [testSystem.userId, testSystem.workspaceId] }, from);
    if (!(await untilReached(follower, reached, stop)))
      check.report([
        { guarantee: 'readers-advance', seen: `${follower.name} does not advance from ${follower.cursor()}` },
      ]);
    check.unwatch(follower);
  }
}

async function untilReached({ cursor }: Follower, position: bigint, stop: AbortSignal): Promise<boolean> {
  const deadlineMs = performance.now() + CATCH_UP_MS;
  while (cursor() < position && !stop.aborted && performance.now() < deadlineMs) await rest(50, stop);
  return cursor() >= position || stop.aborted;
}

/** Loads snapshots as new clients do, applies the log and compares the copies with the tables. */
async function loadNewCopies({ testSystem, check, stop, isCalm }: SoakContext): Promise<void> {
  const groups = [testSystem.userId, testSystem.workspaceId];
  while (!stop.aborted) {
    await rest(COPY_EVERY_MS * (0.5 + Math.random()), stop);
    if (stop.aborted) return;
    const models = isCalm() ? SMALL_MODELS : undefined;
    await check.withLog(async (client) => (await auditNewCopy(client, ownerOf(testSystem), groups, models)).findings);
  }
}

/** Retries until there is a result; null when the soak stops before. */
async function retry<T>(attempt: () => Promise<T | null>, stop: AbortSignal): Promise<T | null> {
  while (!stop.aborted) {
    const result = await attempt();
    if (result !== null) return result;
    await rest(RETRY_MS, stop);
  }
  return null;
}
