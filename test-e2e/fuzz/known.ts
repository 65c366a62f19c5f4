import type { Person, TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';

/** A workspace of the person, with members, and their ids: so that requests get past the first look-up. */
export async function knownIds(testSystem: TestSystem, person: Person): Promise<string[]> {
  const urlKey = `fuzz-${randomUUID().slice(0, 8)}`;
  const { body } = await request(`${testSystem.baseUrl}/api/workspaces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Fuzz', urlKey }),
  });
  const { workspace } = (await body.json()) as { workspace: { id: string } };
  const member = await testSystem.member('Somebody', 'member', workspace.id);
  return [workspace.id, urlKey, person.userId, member.userId];
}
