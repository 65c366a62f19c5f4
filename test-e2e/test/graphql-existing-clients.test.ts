import type { TransactionAction } from '@stratasync/core';
import { createGraphQLTransport, type GraphQLMutationBuilder } from '@stratasync/transport-graphql';
import { LIMITS } from '@wts/contracts';
import type { Person, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ask } from '../graphql/call.ts';
import { Device } from '../strata/device.ts';
import { sharedSystem } from './shared-system.ts';

/** What the clients of the production service select of a task. */
const TASK = `id title description createdAt updatedAt completedAt archivedAt start startDate startBucket todayIndexReferenceDate
  deadlineAt creatorId workspaceId projectId teamId assigneeId headingId repeatRule repeatTemplateId key`;
const PROJECT =
  'id key name description status sortOrder targetDate completedAt archivedAt createdAt updatedAt workspaceId creatorId';
const TEAM = 'id key name description workspaceId createdAt updatedAt archivedAt';
const ITEM = 'id title sortOrder completedAt createdAt updatedAt taskId workspaceId';

interface List {
  readonly nodes: Record<string, unknown>[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

describe('documents of existing clients', () => {
  let testSystem: TestSystem;
  let ann: Person;
  let workspaceId: string;
  const ids = { Task: '', Project: '', Team: '', Label: '' };

  before(async () => {
    testSystem = await sharedSystem();
    ann = await testSystem.person('Ann');
    workspaceId = (await testSystem.workspaceOf(ann, 'Home')).id;
    ids.Team = await make('Team', { key: 'ENG', name: 'Engineering' });
    ids.Project = await make('Project', { key: 'WEB', name: 'Website', teamId: ids.Team });
    ids.Label = await make('Label', { name: 'Bug' });
    ids.Task = await make('Task', { title: 'Write the report', projectId: ids.Project, teamId: ids.Team });
    await testSystem.commit(
      Array.from({ length: 100 }, (_, index) => ({
        modelName: 'Task',
        modelId: randomUUID(),
        action: 'INSERT',
        payload: { workspaceId, title: `Task ${index}` },
      })),
    );
    for (const rank of ['c', 'a', 'b'])
      await make('TaskChecklistItem', { taskId: ids.Task, title: `Step ${rank}`, sortOrder: rank });
  });

  /** As these clients write: with times as epoch milliseconds. */
  async function make(modelName: string, payload: object): Promise<string> {
    const modelId = randomUUID();
    const change = { modelName, modelId, payload: { id: modelId, workspaceId, ...payload } };
    const { success, text } = await testSystem.mutate(ann.token, change);
    assert.ok(success, text);
    return modelId;
  }

  const query = <Data>(text: string, variables: object = {}): Promise<Data> =>
    ask<Data>(testSystem, ann.token, text, variables);

  async function all(
    [name, declared, args, select]: readonly [string, string, string, string],
    variables: object,
  ): Promise<object[]> {
    const text = `query ($after: String, ${declared}) { ${name}(first: 100, after: $after, ${args}) { nodes { ${select} } pageInfo { hasNextPage endCursor } } }`;
    const found: object[] = [];
    for (let after: string | null = null; ;) {
      const data: Record<string, List> = await query(text, { ...variables, after });
      const { nodes, pageInfo } = data[name] as List;
      found.push(...nodes);
      after = pageInfo.endCursor;
      if (!pageInfo.hasNextPage) return found;
    }
  }

  it('read tasks, projects and teams of a workspace in pages of a hundred [graphql.client.existing]', async () => {
    const one = { workspaceId };
    const eq = 'filter: {workspaceId: {eq: $workspaceId}}';
    assert.equal((await all(['tasks', '$workspaceId: ID!', eq, TASK], one)).length, 101);
    assert.equal((await all(['projects', '$workspaceId: ID!', eq, PROJECT], one)).length, 1);
    assert.equal((await all(['teams', '$workspaceId: String!', eq, TEAM], one)).length, 1);
    const several = { ids: [workspaceId, randomUUID()] };
    const within = 'filter: {workspaceId: {in: $ids}}';
    assert.equal((await all(['tasks', '$ids: [ID!]!', within, TASK], several)).length, 101);
    const found = await all(['tasks', '$workspaceId: ID!, $search: String', `search: $search, ${eq}`, TASK], {
      ...one,
      search: 'report',
    });
    assert.deepEqual(
      found.map((task) => (task as { id: string }).id),
      [ids.Task],
    );
    const ofProject = await all(['tasks', '$id: ID!', 'filter: {projectId: {eq: $id}}', TASK], { id: ids.Project });
    assert.equal(ofProject.length, 1);
    const ofTeam = await all(['tasks', '$id: String!', 'filter: {teamId: {eq: $id}}', TASK], { id: ids.Team });
    assert.equal(ofTeam.length, 1);
  });

  it('read a checklist in its order [graphql.client.existing]', async () => {
    const args = 'filter: {taskId: {eq: $taskId}}, orderBy: {sortOrder: ASC}';
    const items = await all(['taskChecklistItems', '$taskId: ID!', args, ITEM], { taskId: ids.Task });
    assert.deepEqual(
      items.map((item) => (item as { title: string }).title),
      ['Step a', 'Step b', 'Step c'],
    );
  });

  it('read one record by its id or key, and who calls [graphql.client.existing]', async () => {
    const { viewer, myWorkspaces } = await query<{ viewer: { id: string }; myWorkspaces: object[] }>(
      '{ viewer { id email name username } myWorkspaces { id name urlKey logoUrl role } }',
    );
    assert.equal(viewer.id, ann.userId);
    assert.deepEqual(
      myWorkspaces.map((one) => ({ ...one, urlKey: '' })),
      [{ id: workspaceId, name: 'Home', urlKey: '', logoUrl: null, role: 'owner' }],
    );
    const data = await query<Record<string, { id: string } | null>>(
      `query ($task: ID!, $project: ID!, $team: ID!, $label: ID!, $workspace: ID!, $user: ID!) {
        task(id: $task) { ${TASK} }
        project(id: $project) { ${PROJECT} }
        team(id: $team) { ${TEAM} }
        label(id: $label) { id name }
        workspace(id: $workspace) { id name urlKey logoUrl role }
        user(id: $user) { id name }
        teamByKey(workspaceId: $workspace, key: "ENG") { ${TEAM} }
      }`,
      {
        task: ids.Task,
        project: ids.Project,
        team: ids.Team,
        label: ids.Label,
        workspace: workspaceId,
        user: ann.userId,
      },
    );
    const wanted = [ids.Task, ids.Project, ids.Team, ids.Label, workspaceId, ann.userId, ids.Team];
    assert.deepEqual(
      Object.values(data).map((record) => record?.id),
      wanted,
    );
    const lists = await query<Record<string, List>>(
      '{ labels { nodes { id name } } users { nodes { id name } } workspaces { nodes { id name } } }',
    );
    assert.deepEqual(
      Object.values(lists).map(({ nodes }) => nodes.length),
      [1, 1, 1],
    );
  });

  /** What an application of the published sync client configures to send its changes as GraphQL. */
  const mutationBuilder: GraphQLMutationBuilder = (
    { action, modelName, modelId, payload, clientTxId, clientId },
    at,
  ) => {
    const noun = `${modelName.slice(0, 1).toLowerCase()}${modelName.slice(1)}`;
    const verb = { I: 'Create', U: 'Update', D: 'Delete', A: 'Archive', V: 'Unarchive' }[action as 'I'];
    const again = `clientTxId: $tx${at}, clientId: $client${at}`;
    const variables: Record<string, unknown> = { [`tx${at}`]: clientTxId, [`client${at}`]: clientId };
    const variableTypes: Record<string, string> = { [`tx${at}`]: 'String', [`client${at}`]: 'String' };
    const declare = (name: string, type: string, value: unknown): string => {
      variables[`${name}${at}`] = value;
      variableTypes[`${name}${at}`] = type;
      return `${name}: $${name}${at}`;
    };
    const { id: _id, ...fields } = payload;
    const args = [
      ...(action === 'I' ? [] : [declare('id', 'ID!', modelId)]),
      ...(action === 'I' ? [declare('input', `${modelName}CreateInput!`, { id: modelId, ...fields })] : []),
      ...(action === 'U' ? [declare('input', `${modelName}UpdateInput!`, fields)] : []),
      again,
    ];
    return { mutation: `${noun}${verb}(${args.join(', ')}) { success syncId }`, variables, variableTypes };
  };

  it('of the published sync client in its GraphQL mode apply its changes, live on another device [graphql.client.strata]', async () => {
    await using phone = await Device.open(testSystem, ann.token, { mutationBuilder });
    await using laptop = await Device.open(testSystem, ann.token);
    const id = randomUUID();
    await phone.client.create('Task', { id, workspaceId, title: 'From the phone' } as never);
    await laptop.untilShows('Task', id, { title: 'From the phone' });
    await phone.client.update('Task', id, { title: 'Changed', startDate: Date.UTC(2026, 10, 22) });
    await laptop.untilShows('Task', id, { title: 'Changed', startDate: '2026-11-22' });
    await phone.untilSettled();
    phone.goOffline();
    const others = Array.from({ length: 5 }, () => randomUUID());
    for (const other of others)
      await phone.client.create('Task', { id: other, workspaceId, title: 'Offline' } as never);
    phone.goOnline();
    for (const other of others) await laptop.untilShows('Task', other, { title: 'Offline' });
    await phone.client.archive('Task', id);
    await phone.untilSettled();
    await phone.client.delete('Task', others[0] ?? '');
    await laptop.untilGone('Task', others[0] ?? '');
    await phone.untilSettled();
    assert.ok(phone.requests.includes('POST /graphql'));
    assert.ok(!phone.requests.includes('POST /sync/mutate'));
    // As many changes at once as it sends.
    const transport = createGraphQLTransport({
      endpoint: `${testSystem.baseUrl}/graphql`,
      syncEndpoint: `${testSystem.baseUrl}/sync`,
      wsEndpoint: `${testSystem.baseUrl}/sync/ws`,
      auth: { getAccessToken: () => Promise.resolve(ann.token) },
      mutationBuilder,
    });
    const state = { state: 'queued', createdAt: 0, retryCount: 0 } as const;
    const transactions = Array.from({ length: LIMITS.mutateTransactionsMax }, (_, at) => ({
      ...state,
      clientTxId: randomUUID(),
      clientId: 'phone',
      modelName: 'Task',
      modelId: at % 2 === 0 ? randomUUID() : (others[1] ?? ''),
      action: (at % 2 === 0 ? 'I' : 'U') as TransactionAction,
      payload: at % 2 === 0 ? { workspaceId, title: `Batch ${at}` } : { title: `Change ${at}` },
    }));
    const { success, results } = await transport.mutate({ batchId: randomUUID(), transactions, createdAt: 0 });
    assert.ok(success, JSON.stringify(results.find((result) => !result.success)));
    assert.equal(new Set(results.map(({ syncId }) => syncId)).size, transactions.length);
    await transport.close();
    // A refused change is undone on the device.
    await phone.client.update('Task', id, { title: '' });
    await phone.untilShows('Task', id, { title: 'Changed' });
  });
});
