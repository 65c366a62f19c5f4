import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Records } from './records.ts';

interface History {
  readonly history: {
    readonly nodes: readonly { readonly syncId: string; readonly action: string }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

const QUERY = `query ($id: ID!, $first: Int, $after: String, $min: String) { history(modelId: $id, first: $first, after: $after, minSyncId: $min) {
  nodes { syncId modelName modelId action data groupId clientId clientTxId createdAt actor { name } } edges { cursor node { syncId } } pageInfo { hasNextPage endCursor } } }`;

describe('the history of a record', () => {
  let records: Records;
  let ada: string;
  let bob: string;
  let home: string;
  let position = 0;
  before(async () => {
    records = await Records.open('graph-history');
    [ada, bob] = [await records.person('Ada'), await records.person('Bob')];
    home = await records.workspace('Platform', ada, bob);
  });
  after(() => records[Symbol.asyncDispose]());

  /** Writes an entry as a commit does. */
  const write = async (entry: {
    groupId: string;
    modelId: string;
    action: string;
    model?: string;
    record?: object;
    data?: object;
    workspaceId?: string;
  }): Promise<number> => {
    position += 1;
    const {
      groupId,
      modelId,
      action,
      model = 'Task',
      record = { id: modelId },
      data = null,
      workspaceId = home,
    } = entry;
    await records.sync.query(
      `insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data, changed, actor_id, client_id, client_tx_id, created_at)
        values ($1, gen_random_uuid(), $2, $3, $4, $5, $6, $7, $8, '{}', $9, 'test', $10, '2026-11-21T09:00:00.123456Z')`,
      [position, workspaceId, groupId, model, modelId, action, record, data, ada, `tx-${position}`],
    );
    return position;
  };
  const actions = async (who: string, id: string, asked = {}): Promise<string[]> => {
    const { history } = await records.data<History>(who, QUERY, { variables: { id }, ...asked });
    return history.nodes.map(({ syncId, action }) => `${syncId} ${action}`);
  };

  it('has its entries, the newest first, with who made them [graphql.history.visible]', async () => {
    const id = randomUUID();
    await write({ groupId: home, modelId: id, action: 'INSERT', record: { id, title: 'A' } });
    await write({ groupId: home, modelId: id, action: 'UPDATE', record: { id, title: 'B' }, data: { title: 'B' } });
    const { history } = await records.data<History>(bob, QUERY, { variables: { id: id.toUpperCase() } });
    assert.deepEqual(history.nodes, [
      {
        syncId: '2',
        modelName: 'Task',
        modelId: id,
        action: 'UPDATE',
        data: { title: 'B' },
        groupId: home,
        clientId: 'test',
        clientTxId: 'tx-2',
        createdAt: '2026-11-21T09:00:00.123Z',
        actor: { name: 'Ada' },
      },
      { ...history.nodes[1], syncId: '1', action: 'INSERT', data: { id, title: 'A' } },
    ]);
    const first = await records.data<History>(bob, QUERY, { variables: { id, first: 1 } });
    assert.equal(first.history.pageInfo.hasNextPage, true);
    const rest = await records.data<History>(bob, QUERY, {
      variables: { id, first: 1, after: first.history.pageInfo.endCursor },
    });
    assert.deepEqual([rest.history.nodes[0]?.syncId, rest.history.pageInfo.hasNextPage], ['1', false]);
  });

  it('has nothing of groups that the reader is not in, or from before they joined [graphql.history.visible]', async () => {
    const id = randomUUID();
    const eve = await records.person('Eve');
    const project = await records.project(home, ada, { members: [ada, bob] });
    await write({ groupId: home, modelId: id, action: 'INSERT' });
    await write({ groupId: home, modelId: id, action: 'DELETE' });
    const inside = await write({ groupId: project, modelId: id, action: 'INSERT' });
    // Bob gains the project here.
    const membership = { id: randomUUID(), projectId: project, userId: bob };
    const move = { model: 'ProjectMember', modelId: membership.id, action: 'INSERT', record: membership };
    await write({ ...move, groupId: bob });
    const after = await write({ groupId: project, modelId: id, action: 'UPDATE' });
    records.sources.groupCache.invalidate();
    assert.deepEqual(await actions(ada, id), [
      `${after} UPDATE`,
      `${inside} INSERT`,
      `${inside - 1} DELETE`,
      `${inside - 2} INSERT`,
    ]);
    assert.deepEqual(await actions(bob, id), [`${after} UPDATE`, `${inside - 1} DELETE`, `${inside - 2} INSERT`]);
    assert.deepEqual(await actions(eve, id), []);
    const other = await records.workspace('Other', bob);
    assert.deepEqual(await actions(bob, id, { workspaceId: other }), []);
    assert.equal((await actions(bob, id, { workspaceId: home })).length, 3);
  });

  it('is read on where many entries in between are not shown, without reading them', async () => {
    const id = randomUUID();
    const project = await records.project(home, ada, { members: [ada, bob] });
    await write({ groupId: home, modelId: id, action: 'INSERT' });
    for (let count = 0; count < 12; count += 1) await write({ groupId: project, modelId: id, action: 'UPDATE' });
    const membership = { id: randomUUID(), projectId: project, userId: bob };
    await write({ model: 'ProjectMember', modelId: membership.id, action: 'INSERT', record: membership, groupId: bob });
    records.sources.groupCache.invalidate();
    const { data, statements } = await records.ask(bob, QUERY, { variables: { id, first: 1 } });
    const { history } = data as History;
    assert.deepEqual(
      history.nodes.map(({ action }) => action),
      ['INSERT'],
    );
    assert.equal(history.pageInfo.hasNextPage, false);
    // The groups, a page of hidden entries, a page without their group, and who made the entry.
    assert.ok(statements <= 4, `${statements} statements`);
  });

  it('ends, as everything of a group does, with the membership, although the groups of readers are cached [graphql.reads.visible]', async () => {
    const project = await records.project(home, ada, { members: [ada, bob] });
    const task = { workspaceId: home, title: 'Inside', creatorId: ada, projectId: project };
    const { id } = await records.one({ model: 'Task', values: task, groupId: project });
    await write({ groupId: project, modelId: id, action: 'INSERT' });
    const query = `{ tasks(filter: {id: {eq: "${id}"}}) { totalCount } task(id: "${id}") { title } history(modelId: "${id}") { nodes { action } } }`;
    const shown = { tasks: { totalCount: 1 }, task: { title: 'Inside' }, history: { nodes: [{ action: 'INSERT' }] } };
    const gone = { tasks: { totalCount: 0 }, task: null, history: { nodes: [] } };
    for (let count = 0; count < 3; count += 1) assert.deepEqual(await records.data(bob, query), shown);
    const [lost] = (
      await records.sync.query<{ record: { id: string } }>(
        'delete from sync.project_members where project_id = $1 and user_id = $2 returning record',
        [project, bob],
      )
    ).rows;
    const loss = { modelId: lost?.record.id ?? '', action: 'DELETE', record: lost?.record ?? {} };
    await write({ model: 'ProjectMember', groupId: bob, ...loss });
    for (const field of ['tasks(filter: {id: {eq: "' + id + '"}}) { totalCount }', `task(id: "${id}") { title }`])
      assert.deepEqual(
        await records.data(bob, `{ ${field} }`),
        field.startsWith('tasks') ? { tasks: gone.tasks } : { task: null },
      );
    assert.deepEqual(await records.data(bob, query), gone);
    assert.deepEqual(await records.data(ada, query), shown);
  });

  it('is refused with a code for a wrong id, size or cursor', async () => {
    for (const variables of [{ id: 'x' }, { id: ada, first: 0 }, { id: ada, first: 101 }, { id: ada, after: 'x' }]) {
      const { errors } = await records.ask(ada, QUERY, { variables });
      assert.equal(
        (errors[0]?.cause as { code?: string } | undefined)?.code,
        'validation_failed',
        JSON.stringify(variables),
      );
    }
  });

  it('and every other read is at or after a position, or ends with a code when it is not reached [graphql.reads.position]', async () => {
    const id = randomUUID();
    const next = String(position + 1);
    const reading = records.data<History>(ada, QUERY, { variables: { id, min: next } });
    await write({ groupId: home, modelId: id, action: 'INSERT' });
    assert.deepEqual(
      (await reading).history.nodes.map(({ syncId }) => syncId),
      [next],
    );
    assert.equal((await actions(ada, id, { minSyncId: next })).length, 1);
    const codeOf = async (asked: object): Promise<string | undefined> => {
      const { errors } = await records.ask(ada, QUERY, { variables: { id }, ...asked });
      return (errors[0]?.cause as { code?: string } | undefined)?.code;
    };
    assert.equal(await codeOf({ minSyncId: String(position + 1) }), 'unavailable');
    for (const min of ['-1', 'x', '99999999999999999999', ''])
      assert.equal(await codeOf({ variables: { id, min } }), 'validation_failed', min);
  });
});
