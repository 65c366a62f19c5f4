import { randomUUID } from 'node:crypto';
import type { Person } from '@wts/testkit';
import type { CheckedSystem } from './checked-system.ts';

/** A new person, and a new workspace of theirs. */
export async function ownerElsewhere(
  system: CheckedSystem,
  name: string,
): Promise<Person & { readonly workspaceId: string }> {
  const person = await system.person(name);
  const workspaceId = randomUUID();
  const workspace = { name: `Workspace of ${name}`, urlKey: `own-${workspaceId.slice(0, 8)}` };
  const owner = { workspaceId, userId: person.userId, role: 'owner' };
  await system.commit([
    { modelName: 'Workspace', modelId: workspaceId, action: 'INSERT', payload: workspace },
    { modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload: owner },
  ]);
  return { ...person, workspaceId };
}
