import { randomUUID } from 'node:crypto';
import type { Person, TestSystem } from '@wts/testkit';

/** A workspace of another person, and a private project of the demo workspace, with records of telling names. */
export async function secretsOf(
  system: TestSystem,
  { userId }: Person,
): Promise<Record<'workspaceId' | 'urlKey' | 'projectId' | 'taskId' | 'privateProjectId' | 'privateTaskId', string>> {
  const workspaceId = randomUUID();
  const urlKey = `secret-${workspaceId.slice(0, 8)}`;
  const [projectId, taskId, privateProjectId, privateTaskId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const insert = (modelName: string, modelId: string, payload: Record<string, unknown>) =>
    ({ modelName, modelId, action: 'INSERT', payload }) as const;
  await system.commit([
    insert('Workspace', workspaceId, { name: 'Secret workspace', urlKey }),
    insert('WorkspaceMember', randomUUID(), { workspaceId, userId, role: 'owner' }),
  ]);
  await system.commit([
    insert('Project', projectId, { workspaceId, key: 'SECRET', name: 'Secret plan', creatorId: userId }),
    insert('Label', randomUUID(), { workspaceId, name: 'Secret label' }),
    insert('Task', taskId, { workspaceId, title: 'Secret task', projectId, creatorId: userId }),
  ]);
  const { workspaceId: demo, userId: owner } = system;
  await system.commit([
    insert('Project', privateProjectId, {
      workspaceId: demo,
      key: `PRIV${workspaceId.slice(0, 6)}`,
      name: 'Secret private project',
      isPrivate: true,
      creatorId: owner,
    }),
  ]);
  await system.commit([
    insert('Task', privateTaskId, {
      workspaceId: demo,
      title: 'Secret private task',
      projectId: privateProjectId,
      creatorId: owner,
    }),
  ]);
  return { workspaceId, urlKey, projectId, taskId, privateProjectId, privateTaskId };
}
