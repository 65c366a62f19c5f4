import type { Person, World } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';

/** A workspace of the person, with members, and their ids: so that requests get past the first look-up. */
export async function knownIds(world: World, person: Person): Promise<string[]> {
  const urlKey = `fuzz-${randomUUID().slice(0, 8)}`;
  const { body } = await request(`${world.baseUrl}/api/workspaces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Fuzz', urlKey }),
  });
  const { workspace } = (await body.json()) as { workspace: { id: string } };
  const member = await world.member('Somebody', 'member', workspace.id);
  return [workspace.id, urlKey, person.userId, member.userId];
}
