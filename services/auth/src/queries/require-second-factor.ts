import { Fault } from '@wts/contracts';
import type { SecondFactorStore } from '../store/second-factors.ts';
import type { WorkspacePolicyStore } from '../store/workspace-policies.ts';

interface FactorContext {
  readonly factors: Pick<SecondFactorStore, 'isMissing' | 'lacks'>;
  readonly policies: Pick<WorkspacePolicyStore, 'requiresSecondFactor'>;
  readonly issuer: string;
}

/** Refuses the credential of a person of whom a second factor is required and who has none, to the cell that asks. Keeps authentication.factors.required. */
export async function requireSecondFactor(
  { factors, issuer }: Pick<FactorContext, 'factors' | 'issuer'>,
  userId: string,
  shard: number,
): Promise<void> {
  if (!(await factors.isMissing(userId, shard))) return;
  const message = `A second factor is required of you. Sign in at ${issuer}/account and add one; this credential works again then.`;
  throw new Fault('second_factor_required', { message });
}

/** Refuses a person who would become a member without the second factor that the workspace requires. Keeps authentication.factors.workspace. */
export async function requireFactorToJoin(
  { factors, policies, issuer }: FactorContext,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
): Promise<void> {
  if (!(await policies.requiresSecondFactor(workspaceId)) || !(await factors.lacks(userId))) return;
  const message = `This workspace requires a second factor. Add one at ${issuer}/account/security, then join.`;
  throw new Fault('second_factor_required', { message });
}
