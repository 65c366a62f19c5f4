import { servicePrincipal } from '@wts/access';
import type { InternalMutation, Principal } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { demoContent } from '../domain/demo.ts';

type SeedContext = Pick<Context, 'workspaces' | 'commitUnit'>;

export interface SeededDemo {
  readonly workspaceId: string;
}

const WORKSPACE = { name: 'Demo', urlKey: 'demo', logoUrl: null } as const;

/** Creates what is missing: any number of runs, also in parallel, end with one workspace of this person. */
export async function seedDemo(context: SeedContext, userId: string): Promise<SeededDemo> {
  return { workspaceId: await demoWorkspace(context, { ...servicePrincipal('workspace-seed'), userId }) };
}

async function demoWorkspace({ workspaces, commitUnit }: SeedContext, principal: Principal): Promise<string> {
  const { userId } = principal;
  const existing = await workspaces.bySlug(userId, WORKSPACE.urlKey);
  if (existing !== null) return existing.id;
  const id = randomUUID();
  try {
    await commitUnit({ principal, authority: 'service', txId: `seed-demo:${id}`, mutations: demoUnit(id, userId) });
    return id;
  } catch (failure) {
    // A parallel run created it, or another person has a workspace with this slug.
    const other = await workspaces.bySlug(userId, WORKSPACE.urlKey);
    if (other === null) throw failure;
    return other.id;
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
