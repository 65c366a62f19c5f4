import type { Revocation } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import type { Idempotency } from '@wts/service-kit/routes';
import type { CommitUnitSender } from './commands/commit-unit.ts';
import type { KeyUse } from './key-use.ts';
import type { ServiceMetrics } from './metrics.ts';
import type { ApiKeyStore } from './store/api-keys.ts';
import type { IdentityStore } from './store/identities.ts';
import type { InvitationStore } from './store/invitations.ts';
import type { PrivateProjectReads } from './store/private-projects.ts';
import type { WorkspaceReads } from './store/workspaces.ts';

/** What the operations of this service use, opened once. Each operation names the part it needs. */
export interface Context {
  readonly roles: Roles;
  readonly workspaces: WorkspaceReads;
  readonly privateProjects: PrivateProjectReads;
  readonly identities: IdentityStore;
  readonly invitations: InvitationStore;
  readonly keys: ApiKeyStore;
  readonly idempotency: Idempotency;
  readonly apiKeyPrefix: string;
  readonly commitUnit: CommitUnitSender;
  readonly revoke: (revocation: Revocation) => Promise<void>;
  readonly keyUse: KeyUse;
  readonly metrics: ServiceMetrics;
}
