import { randomUUID } from 'node:crypto';
import { rest, type Attacker } from './attacker.ts';
import type { Attack } from './attacks.ts';
import { bodyOf, CONTENT_MARK, freshId, template, type Transaction } from './caller.ts';

const MUTATE = '/sync/mutate';
const PER_REQUEST = 100;
/** More than a deletion or a move may touch at once. */
const TREE_ITEMS = 10_100;
const TREES = 3;
const HANGS_UP_MS = 1_500;
const LONG_TEXT_CHARS = 49_000;

const times = <T>(count: number, one: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));

const task = (workspaceId: string, more: object = {}): Transaction => ({
  action: 'INSERT',
  modelName: 'Task',
  modelId: freshId(),
  payload: { workspaceId, title: CONTENT_MARK, ...more },
});

/** A task with more below it than one deletion may touch. */
async function tree({ caller }: Attacker, workspaceId: string): Promise<string> {
  const taskId = await caller.insert('Task', { workspaceId, title: CONTENT_MARK });
  const payload = { workspaceId, taskId, title: CONTENT_MARK };
  await caller.insertMany(TREE_ITEMS, PER_REQUEST, { modelName: 'TaskChecklistItem', payload });
  return taskId;
}

/** So many requests at a time, each with 100 new tasks. */
const tasksAtOnce =
  (clients: number): Attack =>
  async (attacker) => {
    const workspaceId = await attacker.caller.openWorkspace();
    const body = template(times(PER_REQUEST, () => task(workspaceId)));
    return (stop) => attacker.flood(clients, stop, () => ['POST', MUTATE, { body: body() }]);
  };

/** What attackers write. */
export const WRITING_ATTACKS = {
  /** Three requests at a time that delete the same large tree a hundred times; another tree each time it is run. */
  cascade: async (attacker) => {
    const workspaceId = await attacker.caller.openWorkspace();
    const trees: string[] = [];
    for (let made = 0; made < TREES; made += 1) trees.push(await tree(attacker, workspaceId));
    return (stop) => {
      const modelId = (trees.length > 1 ? trees.shift() : trees[0]) ?? '';
      const body = template(times(PER_REQUEST, () => ({ action: 'DELETE', modelName: 'Task', modelId })));
      return attacker.flood(3, stop, () => ['POST', MUTATE, { body: body() }]);
    };
  },

  /** A large tree goes into a private project and out of it, again and again. */
  moves: async (attacker) => {
    const workspaceId = await attacker.caller.openWorkspace();
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

  /** Megabytes of changes whose clients hang up. */
  abandoned: async (attacker) => {
    const workspaceId = await attacker.caller.openWorkspace();
    const description = CONTENT_MARK.padEnd(attacker.sized(LONG_TEXT_CHARS), 'd');
    const payload = { workspaceId, title: CONTENT_MARK, description };
    const ids = await attacker.caller.insertMany(PER_REQUEST, 20, { modelName: 'Task', payload });
    const bodies = times(5, (priority) =>
      template(ids.map((modelId) => ({ action: 'UPDATE', modelName: 'Task', modelId, payload: { priority } }))),
    );
    return async (stop) => {
      while (!stop.aborted) {
        const leaving = new AbortController();
        for (let nth = 0; nth < 190; nth += 1)
          attacker.raw(attacker.bytesOf('POST', MUTATE, bodies[nth % 5]?.()), leaving.signal);
        await rest(HANGS_UP_MS, stop);
        leaving.abort();
      }
    };
  },

  /** Projects whose key is taken: each was a constraint error in PostgreSQL. */
  dup: async (attacker) => {
    const workspaceId = await attacker.caller.openWorkspace();
    const payload = { workspaceId, key: 'D', name: CONTENT_MARK };
    await attacker.caller.insert('Project', payload);
    const body = template(
      times(PER_REQUEST, () => ({ action: 'INSERT', modelName: 'Project', modelId: freshId(), payload })),
    );
    return (stop) => attacker.flood(8, stop, () => ['POST', MUTATE, { body: body() }]);
  },

  tasks64: tasksAtOnce(64),
  tasks240: tasksAtOnce(240),

  /** Addresses of pictures on which a pattern takes long. */
  url: async (attacker) => {
    const modelId = await attacker.caller.userId();
    const payload = { avatarUrl: `http://${'a'.repeat(2030)} ` };
    const body = template(times(PER_REQUEST, () => ({ action: 'UPDATE', modelName: 'User', modelId, payload })));
    return (stop) => attacker.flood(3, stop, () => ['POST', MUTATE, { body: body() }]);
  },

  /** Four megabytes of empty objects, four at a time. */
  json: async (attacker) => {
    const body = Buffer.from(`{"batchId":"x","transactions":[${'{},'.repeat(1_398_000)}{}]}`);
    return (stop) => attacker.flood(4, stop, () => ['POST', MUTATE, { body }]);
  },

  /** Somebody joins and is removed, a project turns private and public, as fast as it goes. */
  churn: async (attacker) => {
    const { caller, other } = attacker;
    const workspaceId = await caller.openWorkspace();
    const userId = await other.userId();
    const projectId = await caller.insert('Project', { workspaceId, key: 'C', name: CONTENT_MARK });
    await caller.insertMany(50, 50, { modelName: 'Task', payload: { workspaceId, projectId, title: CONTENT_MARK } });
    const joinAndLeave = async (): Promise<void> => {
      const { text } = await caller.ask('POST', `/api/workspaces/${workspaceId}/invitations`, { body: '{}' });
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

  /** A stranger takes the id of a private project that was deleted, and reads what there is. */
  reuse: async (attacker) => {
    const { caller, other } = attacker;
    const [workspaceId, elsewhere] = [await caller.openWorkspace(), await other.openWorkspace()];
    const once = async (): Promise<void> => {
      const hidden = { workspaceId, key: 'V', name: CONTENT_MARK, isPrivate: true };
      const modelId = await caller.insert('Project', hidden);
      const secret = `private ${randomUUID()}`;
      await caller.insert('Task', { workspaceId, projectId: modelId, title: secret });
      await caller.commit([{ action: 'DELETE', modelName: 'Project', modelId }]);
      const payload = { workspaceId: elsewhere, key: 'R', name: CONTENT_MARK, isPrivate: true };
      const body = bodyOf([{ action: 'INSERT', modelName: 'Project', modelId, payload }]);
      const { status, text } = await other.ask('POST', MUTATE, { body });
      attacker.count(text.includes('"success":true') ? 'taken' : status);
      const { text: page } = await other.ask('GET', '/sync/deltas?after=0&limit=5000');
      if (page.includes(secret)) attacker.leaks.push(`entries of project ${modelId} came to whoever took its id`);
    };
    return async (stop) => {
      while (!stop.aborted) await once().catch(() => rest(500, stop));
    };
  },
} satisfies { readonly [name: string]: Attack };
