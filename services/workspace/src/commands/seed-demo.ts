import { servicePrincipal } from '@wts/access';
import type { InternalMutation } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { demoContent } from '../domain/demo.ts';

type SeedContext = Pick<Context, 'workspaces' | 'commitUnit'>;

export interface SeededDemo {
  readonly workspaceId: string;
}

const WORKSPACE = { name: 'Demo', urlKey: 'demo', logoUrl: null } as const;

/** Creates what is missing: any number of runs, also in parallel, end with one workspace of this person. */
export async function seedDemo({ workspaces, commitUnit }: SeedContext, userId: string): Promise<SeededDemo> {
  const principal = { ...servicePrincipal('workspace-seed'), userId };
  const existing = await workspaces.bySlug(userId, WORKSPACE.urlKey);
  if (existing !== null) return { workspaceId: existing.id };
  const id = randomUUID();
  try {
    await commitUnit({ principal, authority: 'service', txId: `seed-demo:${id}`, mutations: demoUnit(id, userId) });
    return { workspaceId: id };
  } catch (failure) {
    // A parallel run created it, or another person has a workspace with this slug.
    const other = await workspaces.bySlug(userId, WORKSPACE.urlKey);
    if (other === null) throw failure;
    return { workspaceId: other.id };
  }
}

/** One unit, so that the demo workspace exists whole or not at all. */
function demoUnit(id: string, userId: string): InternalMutation[] {
  const membership = { workspaceId: id, userId, role: 'owner' };
  return [
    { modelName: 'Workspace', modelId: id, action: 'INSERT', payload: WORKSPACE },
    { modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload: membership },
    ...demoContent(id, userId),
  ];
}
