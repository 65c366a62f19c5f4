import { socketOf, type LiveSocket, type Person, type Reply, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Description } from '../fuzz/description.ts';
import { expectedOf, idsIn, ACCESS_RULES, type TestCaller } from './access-rules.ts';
import { sharedSystem } from './shared-system.ts';

/** A workspace of the person, with a private project inside. */
interface Home {
  readonly id: string;
  readonly urlKey: string;
  /** A text in many of its records. */
  readonly secret: string;
  readonly ids: Readonly<Record<'Label' | 'Team' | 'Project' | 'Task' | 'hidden' | 'WorkspaceMember', string>>;
}

const LIMITED: TestCaller = { role: null, scopes: ['read', 'write', 'admin'], isRestricted: true };

/*
 * A key for one workspace may be in the hands of another person, who runs a job there. For the key, the other workspaces of
 * its owner must not exist, in any response of any operation.
 */
describe('a key for one workspace', () => {
  let testSystem: TestSystem;
  let ann: Person;
  let inside: Home;
  let outside: Home;
  let key: string;
  /** Texts that no response may contain. */
  let hidden: string[];

  before(async () => {
    testSystem = await sharedSystem();
    ann = await testSystem.person('Ann');
    [inside, outside] = [await home(), await home()];
    key = (await testSystem.keyOf(ann, { permissions: 'full-access', workspaceId: inside.id })).token;
    hidden = [outside.id, outside.urlKey, outside.secret, ...Object.values(outside.ids)];
  });

  const request = (token: string | null, method: string, path: string, body?: object): Promise<Reply> =>
    testSystem.request(token, method, path, { body });

  const mutate: TestSystem['mutate'] = async (...given) => ({
    ...(await testSystem.mutate(...given)),
    clientTxId: '',
    modelId: '',
  });

  async function make(modelName: string, payload: object): Promise<string> {
    const { success, text, modelId } = await testSystem.mutate(ann.token, { modelName, payload });
    assert.ok(success, text);
    return modelId;
  }

  async function home(): Promise<Home> {
    const secret = `secret-${randomUUID()}`;
    const { id: workspaceId, urlKey } = await testSystem.workspaceOf(ann, secret);
    const Project = await make('Project', { workspaceId, key: 'OPEN', name: secret });
    const private_ = { workspaceId, key: 'HIDDEN', name: secret, isPrivate: true };
    const ids = {
      Project,
      Label: await make('Label', { workspaceId, name: secret }),
      Team: await make('Team', { workspaceId, key: 'T', name: secret }),
      Task: await make('Task', { workspaceId, title: secret, projectId: Project }),
      hidden: await make('Project', private_),
      WorkspaceMember: await membershipIn(workspaceId),
    };
    return { id: workspaceId, urlKey, secret, ids };
  }

  async function membershipIn(workspaceId: string): Promise<string> {
    const requests = [{ modelName: 'WorkspaceMember', groupId: workspaceId }];
    const { text } = await request(ann.token, 'POST', '/sync/batch', { requests });
    return (JSON.parse(text) as { id: string }).id;
  }

  function showsNothing({ text }: Pick<Reply, 'text'>, what: string): void {
    for (const one of hidden) assert.ok(!text.includes(one), `${what} showed ${one}: ${text.slice(0, 2000)}`);
  }

  it('finds no other workspace of its person by any operation [never.shown-outside]', async () => {
    const { operations } = new Description((await testSystem.request(null, 'GET', '/openapi.json')).json());
    for (const { id, method } of operations) {
      const operation = ACCESS_RULES[id] as (typeof ACCESS_RULES)[string];
      const ids = idsIn(testSystem, { workspaceId: outside.id, urlKey: outside.urlKey, ownerId: ann.userId });
      const answer = await request(key, method, operation.path(ids), operation.body?.(ids));
      assert.equal(answer.status, expectedOf(operation, LIMITED, true).status, `${id}: ${answer.text}`);
      showsNothing(answer, id);
    }
    assert.equal((await request(key, 'GET', `/api/auth/keys?workspaceId=${inside.id}`)).status, 403);
  });

  it('reads nothing of them by any operation of sync [never.shown-outside, sync.bootstrap.own-groups, sync.deltas.own-groups]', async () => {
    const groups = [ann.userId, inside.id, outside.id, outside.ids.hidden].join(',');
    const requests = [
      ...[ann.userId, outside.id, outside.ids.hidden].flatMap((groupId) =>
        ['WorkspaceMember', 'ProjectMember', 'Project', 'User', 'Workspace'].map((modelName) => ({
          modelName,
          groupId,
        })),
      ),
      ...['WorkspaceMember', 'ProjectMember', 'TeamMember'].map((modelName) => ({
        modelName,
        indexedKey: 'userId',
        keyValue: ann.userId,
      })),
      { modelName: 'Workspace', indexedKey: 'id', keyValue: outside.id },
      { modelName: 'Task', indexedKey: 'projectId', keyValue: outside.ids.Project },
    ];
    const answers = [
      ['everything', await request(key, 'GET', '/sync/bootstrap')],
      ['everything of these groups', await request(key, 'GET', `/sync/bootstrap?syncGroups=${groups}&type=full`)],
      ['what is their own', await request(key, 'GET', `/sync/bootstrap?syncGroups=${ann.userId}`)],
      ['memberships', await request(key, 'POST', '/sync/bootstrap', { onlyModels: 'WorkspaceMember,ProjectMember' })],
      ['by key and group', await request(key, 'POST', '/sync/batch', { requests })],
      ['the log', await request(key, 'GET', '/sync/deltas')],
      ['the log in letters', await request(key, 'GET', '/sync/deltas?actions=letters')],
      ['the log of these groups', await request(key, 'GET', `/sync/deltas?syncGroups=${groups}`)],
    ] as const;
    for (const [what, answer] of answers) {
      assert.equal(answer.status, 200, answer.text);
      showsNothing(answer, what);
      // The response is not just empty.
      assert.ok(answer.text.includes(ann.userId), what);
    }
  });

  it('receives nothing of them on sockets, neither old entries nor new ones [never.shown-outside, sync.socket.own-groups]', async () => {
    const groups = [ann.userId, inside.id, outside.id, outside.ids.hidden];
    const sockets: LiveSocket[] = [
      await socketOf(testSystem, { token: key }),
      await socketOf(testSystem, { token: key, groups: [] }),
      await socketOf(testSystem, { token: key, groups }),
    ];
    const role = (value: string): Promise<unknown> =>
      testSystem.commit([
        {
          modelName: 'WorkspaceMember',
          modelId: outside.ids.WorkspaceMember,
          action: 'UPDATE',
          payload: { role: value },
        },
      ]);
    await testSystem.member('Heir', 'owner', outside.id);
    await role('admin');
    const project = await make('Project', { workspaceId: outside.id, key: 'LATER', name: 'Later', isPrivate: true });
    await role('guest');
    assert.equal(
      (await request(ann.token, 'DELETE', `/api/workspaces/${outside.id}/members/${ann.userId}`)).status,
      200,
      'Ann leaves',
    );
    await testSystem.put('WorkspaceMember', { workspaceId: outside.id, userId: ann.userId, role: 'owner' });
    const marker = await make('Label', { workspaceId: inside.id, name: 'fence' });
    for (const socket of sockets) {
      await socket.untilAction(({ modelId }) => modelId === marker);
      const text = JSON.stringify(socket.frames);
      showsNothing({ text }, 'a socket');
      assert.ok(!text.includes(project));
      await socket.close();
    }
  });

  it('writes nothing there, and gets the same refusal for existing and for missing records [never.shown-outside, sync.mutate.outsider]', async () => {
    const { ids } = outside;
    const task = (more: object): object => ({ workspaceId: inside.id, title: 'x', ...more });
    const probes: readonly (readonly [string, (id: string) => Parameters<typeof mutate>[1]])[] = [
      [outside.id, (workspaceId) => ({ modelName: 'Task', payload: { workspaceId, title: 'x' } })],
      [ids.Project, (projectId) => ({ modelName: 'Task', payload: task({ projectId }) })],
      [ids.hidden, (projectId) => ({ modelName: 'Task', payload: task({ projectId }) })],
      [ids.Team, (teamId) => ({ modelName: 'Task', payload: task({ teamId }) })],
      [ids.Label, (labelId) => ({ modelName: 'Task', payload: task({ labelIds: [labelId] }) })],
      [ids.Task, (taskId) => ({ modelName: 'Comment', payload: { workspaceId: inside.id, taskId, body: 'x' } })],
      [ids.Task, (modelId) => ({ modelName: 'Task', modelId, action: 'UPDATE', payload: { title: 'x' } })],
      [ids.hidden, (modelId) => ({ modelName: 'Project', modelId, action: 'ARCHIVE' })],
      [ids.WorkspaceMember, (modelId) => ({ modelName: 'WorkspaceMember', modelId, action: 'DELETE' })],
      [outside.id, (modelId) => ({ modelName: 'Workspace', modelId, action: 'UPDATE', payload: { name: 'x' } })],
    ];
    for (const [id, transaction] of probes) {
      const send = (target: string): ReturnType<typeof mutate> =>
        mutate(key, { modelId: randomUUID(), action: 'INSERT', ...transaction(target) });
      const [{ text, ...there }, { text: _, ...nowhere }] = [await send(id), await send(randomUUID())];
      assert.deepEqual(there, nowhere);
      assert.equal(there.code, 'not_found', text);
      showsNothing({ text }, JSON.stringify(transaction('')));
    }
  });

  it('gets no result of its person there by repeating a transaction id [never.shown-outside, sync.mutate.idempotent]', async () => {
    const transaction = {
      clientTxId: randomUUID(),
      modelName: 'Task',
      modelId: randomUUID(),
      action: 'INSERT',
      payload: { workspaceId: outside.id, title: outside.secret },
    };
    assert.ok((await mutate(ann.token, transaction)).text.includes(outside.secret));
    const { text } = await mutate(key, { ...transaction, payload: { workspaceId: inside.id, title: 'x' } });
    showsNothing({ text }, 'a repetition');
  });

  it('cannot change the profile of its person, which other workspaces show [never.shown-outside]', async () => {
    const change = { modelName: 'User', modelId: ann.userId, action: 'UPDATE', payload: { name: 'Mallory' } };
    assert.equal((await mutate(key, change)).code, 'forbidden');
  });
});
