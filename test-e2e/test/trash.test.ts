import type { Person, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { ask } from '../graphql/call.ts';
import { sharedSystem } from './shared-system.ts';

interface Changed {
  readonly success: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
}

interface Emptied extends Changed {
  readonly deleted: number;
  readonly remaining: number;
}

describe('the Trash by GraphQL', () => {
  let testSystem: TestSystem;
  let owner: Person;
  let guest: Person;
  let [workspaceId, urlKey] = ['', ''];

  before(async () => {
    testSystem = await sharedSystem();
    owner = await testSystem.person('Owner');
    ({ id: workspaceId, urlKey } = await testSystem.workspaceOf(owner));
    guest = await testSystem.member('Guest', 'guest', workspaceId);
  });

  const query = <T>(who: Person, document: string, variables: object = {}): Promise<T> =>
    ask<T>(testSystem, who.token, document, variables);
  const task = async (who: Person, more: object = {}): Promise<string> => {
    const { taskCreate } = await query<{ taskCreate: { task: { id: string } } }>(
      who,
      'mutation ($input: TaskCreateInput!) { taskCreate(input: $input) { task { id } } }',
      { input: { workspaceId, title: 'T', ...more } },
    );
    await step(who, 'taskArchive', taskCreate.task.id);
    return taskCreate.task.id;
  };
  const step = async (
    who: Person,
    name: string,
    id: string,
  ): Promise<Changed & { readonly hiddenBy?: string | null }> => {
    const select = name === 'taskUnarchive' ? 'hiddenBy' : '';
    const document = `mutation ($id: ID!) { step: ${name}(id: $id) { success error { code message } ${select} } }`;
    return (await query<{ step: Changed }>(who, document, { id })).step;
  };
  const trash = async (who: Person): Promise<{ ids: string[]; deletableCount: number }> => {
    const found = await query<{ trash: { nodes: { task: { id: string } }[]; deletableCount: number } }>(
      who,
      'query ($id: ID!) { trash(workspaceId: $id) { nodes { task { id } } deletableCount } }',
      { id: workspaceId },
    );
    return { ids: found.trash.nodes.map((node) => node.task.id), deletableCount: found.trash.deletableCount };
  };
  const empty = async (who: Person, count: number): Promise<Emptied> =>
    (
      await query<{ trashEmpty: Emptied }>(
        who,
        'mutation ($id: ID!, $count: Int!) { trashEmpty(workspaceId: $id, count: $count) { success deleted remaining error { code message } } }',
        { id: workspaceId, count },
      )
    ).trashEmpty;

  it('names the archived project that hides a restored task, and none once the project is restored [trash.restore.hidden]', async () => {
    const made = await query<{ projectCreate: { project: { id: string } } }>(
      owner,
      'mutation ($input: ProjectCreateInput!) { projectCreate(input: $input) { project { id } } }',
      { input: { workspaceId, key: 'HID', name: 'Hidden' } },
    );
    const projectId = made.projectCreate.project.id;
    const [first, second] = [await task(owner, { projectId }), await task(owner, { projectId })];
    await step(owner, 'projectArchive', projectId);
    assert.equal((await step(owner, 'taskUnarchive', first)).hiddenBy, projectId);
    await step(owner, 'projectUnarchive', projectId);
    assert.equal((await step(owner, 'taskUnarchive', second)).hiddenBy, null);
  });

  it('is emptied by who repeats how many tasks they may delete, of the tasks that they may delete [trash.empty]', async () => {
    const [ofOwner, ofGuest] = [await task(owner), await task(guest)];
    assert.deepEqual(await trash(guest), { ids: [ofGuest, ofOwner], deletableCount: 1 });
    const wrong = await empty(guest, 2);
    assert.deepEqual([wrong.success, wrong.error?.code, wrong.remaining], [false, 'CONFLICT', 1]);
    const { success, deleted, remaining } = await empty(guest, 1);
    assert.deepEqual([success, deleted, remaining], [true, 1, 0]);
    assert.deepEqual(await trash(owner), { ids: [ofOwner], deletableCount: 1 });
    assert.equal((await empty(owner, 1)).deleted, 1);
    assert.deepEqual((await trash(owner)).ids, []);
    assert.equal((await step(owner, 'taskUnarchive', ofOwner)).error?.code, 'NOT_FOUND');
  });

  it('is where a deleted workspace is, until its owner restores it [trash.workspace.delete, trash.workspace.read-only]', async () => {
    const remove = async (who: Person, key: string): Promise<Changed & { workspace: { archivedAt: string } | null }> =>
      (
        await query<{ workspaceDelete: Changed & { workspace: { archivedAt: string } | null } }>(
          who,
          'mutation ($id: ID!, $key: String!) { workspaceDelete(id: $id, urlKey: $key) { success error { code message } workspace { archivedAt } } }',
          { id: workspaceId, key },
        )
      ).workspaceDelete;
    const own = async (): Promise<string[]> =>
      (await query<{ myWorkspaces: { id: string }[] }>(owner, '{ myWorkspaces { id } }')).myWorkspaces.map(
        ({ id }) => id,
      );
    await task(owner);
    assert.equal((await remove(guest, urlKey)).error?.code, 'FORBIDDEN');
    assert.equal((await remove(owner, 'other')).error?.code, 'BAD_USER_INPUT');
    assert.equal(typeof (await remove(owner, urlKey)).workspace?.archivedAt, 'string');
    assert.deepEqual(await own(), []);
    const created = await query<{ taskCreate: Changed }>(
      owner,
      'mutation ($input: TaskCreateInput!) { taskCreate(input: $input) { success error { code message } } }',
      { input: { workspaceId, title: 'Late' } },
    );
    assert.match(created.taskCreate.error?.message ?? '', /The workspace is deleted/);
    const emptied = await empty(owner, (await trash(owner)).deletableCount);
    assert.deepEqual([emptied.success, emptied.deleted], [false, 0]);
    assert.match(emptied.error?.message ?? '', /The workspace is deleted/);
    const found = await query<{ workspaceByUrlKey: { id: string } | null }>(
      owner,
      'query ($key: String!) { workspaceByUrlKey(urlKey: $key) { id } }',
      { key: urlKey },
    );
    assert.equal(found.workspaceByUrlKey?.id, workspaceId);
    assert.equal((await step(owner, 'workspaceRestore', workspaceId)).success, true);
    assert.deepEqual(await own(), [workspaceId]);
  });
});
