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
