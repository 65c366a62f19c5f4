import { randomUUID } from 'node:crypto';
import type { Attack, Attacker } from './attacker.ts';
import { rest } from '../rest.ts';
import { bodyOf, CONTENT_MARK, freshId, template, type Transaction } from './http-caller.ts';

const MUTATE = '/sync/mutate';
const PER_REQUEST = 100;
/** More records than one deletion or move may change in one batch. */
const TREE_ITEMS = 10_100;
const TREES = 3;
const DISCONNECT_MS = 1_500;
const LONG_TEXT_CHARS = 49_000;

const times = <T>(count: number, one: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));

const task = (workspaceId: string, more: object = {}): Transaction => ({
  action: 'INSERT',
  modelName: 'Task',
  modelId: freshId(),
  payload: { workspaceId, title: CONTENT_MARK, ...more },
});

/** Creates a task with more items than one deletion may change. */
async function tree({ caller }: Attacker, workspaceId: string): Promise<string> {
  const taskId = await caller.insert('Task', { workspaceId, title: CONTENT_MARK });
  const payload = { workspaceId, taskId, title: CONTENT_MARK };
  await caller.insertMany(TREE_ITEMS, PER_REQUEST, { modelName: 'TaskChecklistItem', payload });
  return taskId;
}

/** So many clients send requests with 100 new tasks each. */
const insertTasks =
  (clients: number): Attack =>
  async (attacker) => {
    const workspaceId = await attacker.caller.createWorkspace();
    const body = template(times(PER_REQUEST, () => task(workspaceId)));
    return (stop) => attacker.flood(clients, stop, () => ['POST', MUTATE, { body: body() }]);
  };

/** Attacks by writing. */
export const WRITING_ATTACKS = {
  /** Three clients delete the same large tree a hundred times in each request; each run uses another tree. */
  cascade: async (attacker) => {
    const workspaceId = await attacker.caller.createWorkspace();
    const trees: string[] = [];
    for (let made = 0; made < TREES; made += 1) trees.push(await tree(attacker, workspaceId));
    return (stop) => {
      const modelId = (trees.length > 1 ? trees.shift() : trees[0]) ?? '';
      const body = template(times(PER_REQUEST, () => ({ action: 'DELETE', modelName: 'Task', modelId })));
      return attacker.flood(3, stop, () => ['POST', MUTATE, { body: body() }]);
    };
  },

  /** Three clients move a large tree into a private project and out of it, again and again. */
  moves: async (attacker) => {
    const workspaceId = await attacker.caller.createWorkspace();
    const modelId = await tree(attacker, workspaceId);
    const hidden = { workspaceId, key: 'H', name: CONTENT_MARK, isPrivate: true };
    const projectId = await attacker.caller.insert('Project', hidden);
    const move = (to: string | null): Transaction => ({
      action: 'UPDATE',
      modelName: 'Task',
      modelId,
      payload: { projectId: to },
    });
    return (stop) =>
      attacker.flood(3, stop, (nth) => ['POST', MUTATE, { body: bodyOf([move(nth % 2 === 0 ? projectId : null)]) }]);
  },

  /** Clients send megabytes of changes and disconnect before the response. */
  abandoned: async (attacker) => {
    const workspaceId = await attacker.caller.createWorkspace();
    const description = CONTENT_MARK.padEnd(attacker.sized(LONG_TEXT_CHARS), 'd');
    const payload = { workspaceId, title: CONTENT_MARK, description };
    const ids = await attacker.caller.insertMany(PER_REQUEST, 20, { modelName: 'Task', payload });
    const bodies = times(5, (priority) =>
      template(ids.map((modelId) => ({ action: 'UPDATE', modelName: 'Task', modelId, payload: { priority } }))),
    );
    return async (stop) => {
      while (!stop.aborted) {
        const disconnecting = new AbortController();
        for (let nth = 0; nth < 190; nth += 1)
          attacker.raw(attacker.bytesOf('POST', MUTATE, bodies[nth % 5]?.()), disconnecting.signal);
        await rest(DISCONNECT_MS, stop);
        disconnecting.abort();
      }
    };
  },

  /** Clients insert projects with a key that is in use: each was once a constraint error in PostgreSQL. */
  dup: async (attacker) => {
    const workspaceId = await attacker.caller.createWorkspace();
    const payload = { workspaceId, key: 'D', name: CONTENT_MARK };
    await attacker.caller.insert('Project', payload);
    const body = template(
      times(PER_REQUEST, () => ({ action: 'INSERT', modelName: 'Project', modelId: freshId(), payload })),
    );
    return (stop) => attacker.flood(8, stop, () => ['POST', MUTATE, { body: body() }]);
  },

  tasks64: insertTasks(64),
  tasks240: insertTasks(240),

  /** Clients send image URLs on which a regular expression takes long. */
  url: async (attacker) => {
    const modelId = await attacker.caller.userId();
    const payload = { avatarUrl: `http://${'a'.repeat(2030)} ` };
    const body = template(times(PER_REQUEST, () => ({ action: 'UPDATE', modelName: 'User', modelId, payload })));
    return (stop) => attacker.flood(3, stop, () => ['POST', MUTATE, { body: body() }]);
  },

  /** Four clients send four megabytes of empty JSON objects. */
  json: async (attacker) => {
    const body = Buffer.from(`{"batchId":"x","transactions":[${'{},'.repeat(1_398_000)}{}]}`);
    return (stop) => attacker.flood(4, stop, () => ['POST', MUTATE, { body }]);
  },

  /** A person joins and is removed, and a project becomes private and public, as fast as possible. */
  churn: async (attacker) => {
    const { caller, other } = attacker;
    const workspaceId = await caller.createWorkspace();
    const userId = await other.userId();
    const projectId = await caller.insert('Project', { workspaceId, key: 'C', name: CONTENT_MARK });
    await caller.insertMany(50, 50, { modelName: 'Task', payload: { workspaceId, projectId, title: CONTENT_MARK } });
    const joinAndLeave = async (): Promise<void> => {
      const { text } = await caller.request('POST', `/api/workspaces/${workspaceId}/invitations`, { body: '{}' });
      const { invitation } = JSON.parse(text) as { invitation?: { code: string } };
      const body = JSON.stringify({ code: invitation?.code ?? '' });
      attacker.count(await other.status('POST', '/api/workspaces/join', { body }));
      attacker.count(await caller.status('DELETE', `/api/workspaces/${workspaceId}/members/${userId}`));
    };
    const toggle = (nth: number): Transaction => ({
      action: 'UPDATE',
      modelName: 'Project',
      modelId: projectId,
      payload: { isPrivate: nth % 2 === 0 },
    });
    return async (stop) => {
      const joining = async (): Promise<void> => {
        while (!stop.aborted) await joinAndLeave().catch(() => rest(500, stop));
      };
      await Promise.all([
        joining(),
        attacker.flood(2, stop, (nth) => ['POST', MUTATE, { body: bodyOf([toggle(nth)]) }]),
      ]);
    };
  },

  /** A person without access creates a project with the id of a deleted private project, and reads the log. */
  reuse: async (attacker) => {
    const { caller, other } = attacker;
    const [workspaceId, elsewhere] = [await caller.createWorkspace(), await other.createWorkspace()];
    const once = async (): Promise<void> => {
      const hidden = { workspaceId, key: 'V', name: CONTENT_MARK, isPrivate: true };
      const modelId = await caller.insert('Project', hidden);
      const secret = `private ${randomUUID()}`;
      await caller.insert('Task', { workspaceId, projectId: modelId, title: secret });
      await caller.commit([{ action: 'DELETE', modelName: 'Project', modelId }]);
      const payload = { workspaceId: elsewhere, key: 'R', name: CONTENT_MARK, isPrivate: true };
      const body = bodyOf([{ action: 'INSERT', modelName: 'Project', modelId, payload }]);
      const { status, text } = await other.request('POST', MUTATE, { body });
      attacker.count(text.includes('"success":true') ? 'id reused' : status);
      const { text: page } = await other.request('GET', '/sync/deltas?after=0&limit=5000');
      if (page.includes(secret))
        attacker.leaks.push(`a person who reused the id of project ${modelId} received its entries`);
    };
    return async (stop) => {
      while (!stop.aborted) await once().catch(() => rest(500, stop));
    };
  },
} satisfies { readonly [name: string]: Attack };
