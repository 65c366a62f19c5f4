import type { Person, TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';

/** Creates a workspace with a member. Resolves to its ids, with which requests get past the first lookup. */
export async function existingIds(testSystem: TestSystem, person: Person): Promise<string[]> {
  const urlKey = `fuzz-${randomUUID().slice(0, 8)}`;
  const { body } = await request(`${testSystem.baseUrl}/api/workspaces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Fuzz', urlKey }),
  });
  const { workspace } = (await body.json()) as { workspace: { id: string } };
  const member = await testSystem.member('Other', 'member', workspace.id);
  return [workspace.id, urlKey, person.userId, member.userId];
}

interface ExistingRecord {
  readonly modelName: string;
  readonly id: string;
}

/** Creates a record of each model in a workspace, by the testkit. */
export async function existingRecords(
  testSystem: TestSystem,
  workspaceId: string,
  text: string,
): Promise<readonly ExistingRecord[]> {
  const made: ExistingRecord[] = [];
  const put = async (modelName: string, payload: object): Promise<string> => {
    const modelId = randomUUID();
    await testSystem.commit([{ modelName, modelId, action: 'INSERT', payload: { workspaceId, ...payload } }]);
    made.push({ modelName, id: modelId });
    return modelId;
  };
  const teamId = await put('Team', { key: 'TEAM', name: text });
  const projectId = await put('Project', { key: 'WEB', name: text, teamId });
  const labelId = await put('Label', { name: text });
  for (let index = 0; index < 3; index += 1) {
    const taskId = await put('Task', { title: text, projectId, teamId, labelIds: [labelId] });
    await put('TaskChecklistItem', { taskId, title: text });
    await put('Comment', { taskId, body: text });
  }
  return made;
}

/** What another person has in a workspace of theirs. */
export interface StrangersRecords {
  readonly ids: readonly string[];
  readonly records: readonly ExistingRecord[];
  /** Every record has one of them. */
  readonly texts: readonly string[];
}

export async function strangersRecords(testSystem: TestSystem): Promise<StrangersRecords> {
  const text = `secret-${randomUUID()}`;
  const stranger = await testSystem.person(text);
  const [workspaceId = '', urlKey = '', ...people] = await existingIds(testSystem, stranger);
  const records = await existingRecords(testSystem, workspaceId, text);
  return { ids: [workspaceId, ...people, ...records.map(({ id }) => id)], records, texts: [text, urlKey] };
}
