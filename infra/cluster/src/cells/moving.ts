/**
 * A workspace that moves to another cell while people use it: writers that follow it there, a follower in each cell, an endpoint of
 * webhooks. At the end each change must be there once, in the order in which its writer made it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { connectTo, eventually, receiver, sendRequest, type Person, type Receiver } from '@wts/testkit';
import { followBySocket, loadCopy, newTask, sendChanges, type CheckedSystem, type Follower } from '@wts/verify';
import type { Identity } from '@wts/local';

const WRITERS = 4;
const WRITE_EVERY_MS = 200;
const RETRY_MS = 50;
/** From the switch on, until the copy is open. */
const REFUSED_MS_MAX = 60_000;
const CATCH_UP_MS = 90_000;

interface Written {
  readonly writer: number;
  readonly baseUrl: string;
  readonly syncId: bigint;
  readonly atMs: number;
}

export class MovingWorkspace {
  readonly workspaceId: string;
  readonly #owner: Person;
  readonly #from: CheckedSystem;
  readonly #to: CheckedSystem;
  readonly #consumer: Receiver;
  readonly #written = new Map<string, Written>();
  readonly #before: Follower;
  #baseUrl: string;
  #after: { readonly follower: Follower; readonly copied: ReadonlySet<string>; readonly position: bigint } | null =
    null;

  private constructor(
    place: { workspaceId: string; owner: Person; from: CheckedSystem; to: CheckedSystem },
    consumer: Receiver,
    before: Follower,
  ) {
    this.workspaceId = place.workspaceId;
    this.#owner = place.owner;
    this.#from = place.from;
    this.#to = place.to;
    this.#baseUrl = place.from.baseUrl;
    this.#consumer = consumer;
    this.#before = before;
  }

  static async open(
    stack: AsyncDisposableStack,
    { from, to, identity, host }: { from: CheckedSystem; to: CheckedSystem; identity: Identity; host: string },
  ): Promise<MovingWorkspace> {
    const owner = await from.person('Owner of what moves');
    const workspaceId = await createWorkspace(from.baseUrl, owner.token, 'Moves');
    const consumer = stack.use(await receiver({ identity, host }));
    const endpoint = { workspaceId, url: consumer.url, eventTypes: ['task.created'] };
    const created = await sendRequest({ baseUrl: from.baseUrl, token: owner.token }, 'POST', '/api/webhooks', {
      body: endpoint,
    });
    if (created.status !== 201) throw new Error(`no endpoint: ${created.text}`);
    const account = { baseUrl: from.baseUrl, token: owner.token };
    const { position } = await loadCopy(account, ['Workspace']);
    const before = stack.use(followBySocket(account, 'follower before the move', position));
    return new MovingWorkspace({ workspaceId, owner, from, to }, consumer, before);
  }

  get count(): number {
    return this.#written.size;
  }

  /** Until stopped. A refused change is sent again, to the new address once a refusal names it. */
  async write(stop: AbortSignal): Promise<void> {
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const clientId = randomUUID();
        for (let number = 1; !stop.aborted; number += 1) {
          await this.#writeOne({ writer, number, clientId });
          await pause(WRITE_EVERY_MS);
        }
      }),
    );
  }

  async #writeOne({ writer, number, clientId }: { writer: number; number: number; clientId: string }): Promise<void> {
    const change = newTask({ workspaceId: this.workspaceId, title: `${writer} ${number}` }, clientId);
    const untilMs = performance.now() + REFUSED_MS_MAX;
    for (;;) {
      const baseUrl = this.#baseUrl;
      const [result] = (await sendChanges(baseUrl, this.#owner.token, [change])) ?? [];
      if (result?.success) {
        const syncId = BigInt(result.syncId ?? '0');
        this.#written.set(change.modelId, { writer, baseUrl, syncId, atMs: performance.now() });
        return;
      }
      if (performance.now() > untilMs) throw new Error(`a change was refused for a minute: ${result?.error}`);
      // While it is being moved, the refusal names no other address.
      if (result?.error?.includes(this.#to.baseUrl)) this.#baseUrl = this.#to.baseUrl;
      await pause(RETRY_MS);
    }
  }

  /** Resolves when the new cell lists the workspace, and follows it there from a copy. */
  async untilMoved(stack: AsyncDisposableStack, deadlineMs: number): Promise<void> {
    const account = { baseUrl: this.#to.baseUrl, token: this.#owner.token };
    await eventually(async () => (await this.#workspacesAt(this.#to.baseUrl)).includes(this.workspaceId), {
      deadlineMs,
      everyMs: 100,
    });
    const { position, records } = await loadCopy(account, ['Workspace', 'Task']);
    const copied = new Set([...records.keys()].map((key) => key.replace(/^Task /, '')));
    const follower = stack.use(followBySocket(account, 'follower after the move', position));
    this.#after = { follower, copied, position: BigInt(position) };
  }

  /** The longest time in which no change was accepted. */
  get longestPauseMs(): number {
    const times = [...this.#written.values()].map(({ atMs }) => atMs).toSorted((one, other) => one - other);
    return times.reduce((longest, at, index) => Math.max(longest, at - (times[index - 1] ?? at)), 0);
  }

  /** After the writers have stopped: what is missing, doubled or out of order. */
  async check(): Promise<string[]> {
    await eventually(() => this.#eventsOf().size >= this.#written.size, { deadlineMs: CATCH_UP_MS }).catch(() => {});
    return [
      ...(await this.#checkTables()),
      ...this.#checkFollowers(),
      ...this.#checkEvents(),
      ...((await this.#workspacesAt(this.#from.baseUrl)).includes(this.workspaceId)
        ? ['the old cell still lists the workspace']
        : []),
    ];
  }

  async #workspacesAt(baseUrl: string): Promise<readonly string[]> {
    const reply = await sendRequest({ baseUrl, token: this.#owner.token }, 'GET', '/api/workspaces');
    if (reply.status !== 200) return [];
    return (reply.json() as { workspaces: { id: string }[] }).workspaces.map(({ id }) => id);
  }

  /** Each task once in the table and in the log of the new cell, and those of a writer in ascending order there. */
  async #checkTables(): Promise<string[]> {
    await using client = await connectTo(this.#to.database.url);
    const { rows } = await client.query<{ id: string; positions: string[] }>(
      `select t.id::text, array_agg(a.sync_id::text) as positions from sync.tasks t
       left join sync.sync_actions a on a.model_id = t.id and a.action = 'INSERT' where t.workspace_id = $1 group by t.id`,
      [this.workspaceId],
    );
    const found = new Map(rows.map(({ id, positions }) => [id, positions]));
    const unknown = [...found.keys()].filter((id) => !this.#written.has(id));
    const wrong = [...this.#written.keys()].filter((id) => found.get(id)?.filter(Boolean).length !== 1);
    const mine = [...this.#written.values()].filter(({ baseUrl }) => baseUrl === this.#to.baseUrl);
    return [
      ...unknown.map((id) => `no writer made task ${id}`),
      ...wrong.map((id) => `task ${id} is ${found.get(id)?.length ?? 0} times in the log of the new cell`),
      ...descents(mine).map((writer) => `changes of writer ${writer} are out of order`),
    ];
  }

  #checkFollowers(): string[] {
    if (this.#after === null) return ['the workspace did not move'];
    const { follower, copied, position } = this.#after;
    const idsIn = (one: Follower): string[] =>
      one.received
        .filter(({ modelName, action }) => modelName === 'Task' && action.startsWith('I'))
        .map((entry) => entry.modelId);
    const [before, after] = [idsIn(this.#before), idsIn(follower)];
    const twice = [before, after].flatMap((ids) => ids.filter((id, index) => ids.indexOf(id) !== index));
    const all = [...this.#written];
    const unseen = all.filter(([id]) => !copied.has(id) && !after.includes(id));
    const unreceived = all.filter(([id, one]) => one.baseUrl === this.#from.baseUrl && !before.includes(id));
    const late = all.filter(
      ([id, one]) => one.baseUrl === this.#to.baseUrl && one.syncId > position && !after.includes(id),
    );
    return [
      ...twice.map((id) => `a follower got task ${id} twice`),
      ...unseen.map(([id]) => `task ${id} is neither in the copy of the new cell nor followed`),
      ...unreceived.map(([id]) => `the follower of the old cell did not get task ${id}`),
      ...late.map(([id]) => `the follower of the new cell did not get task ${id}`),
    ];
  }

  /** The ids of events, by task, in the order of their first attempts. */
  #eventsOf(): Map<string, Set<string>> {
    const events = new Map<string, Set<string>>();
    for (const { body } of this.#consumer.received) {
      const event = JSON.parse(body) as { id: string; data: { object: { id: string } } };
      const ids = events.get(event.data.object.id) ?? new Set();
      events.set(event.data.object.id, ids.add(event.id));
    }
    return events;
  }

  #checkEvents(): string[] {
    const events = this.#eventsOf();
    const missing = [...this.#written.keys()].filter((id) => !events.has(id));
    const doubled = [...events].filter(([, ids]) => ids.size > 1);
    const order = [...events.keys()].flatMap((id, index) => {
      const written = this.#written.get(id);
      return written === undefined ? [] : [{ ...written, syncId: BigInt(index), atMs: written.atMs }];
    });
    const inOrder = order.toSorted((one, other) => one.atMs - other.atMs);
    return [
      ...missing.map((id) => `no event of task ${id}`),
      ...doubled.map(([id]) => `two events of task ${id}`),
      ...descents(inOrder).map((writer) => `events of writer ${writer} are out of order`),
    ];
  }
}

/** The writers whose positions do not ascend, in the order in which they wrote. */
function descents(all: readonly Written[]): number[] {
  const last = new Map<number, bigint>();
  const wrong = new Set<number>();
  for (const { writer, syncId } of all) {
    if (syncId <= (last.get(writer) ?? -1n)) wrong.add(writer);
    last.set(writer, syncId);
  }
  return [...wrong];
}

/** As a person does who chooses this cell. */
export async function createWorkspace(baseUrl: string, token: string, name: string): Promise<string> {
  const urlKey = `${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-${randomUUID().slice(0, 8)}`;
  const reply = await sendRequest({ baseUrl, token }, 'POST', '/api/workspaces', { body: { name, urlKey } });
  if (reply.status !== 201) throw new Error(`no workspace at ${baseUrl}: ${reply.status} ${reply.text}`);
  return (reply.json() as { workspace: { id: string } }).workspace.id;
}
