import type { Roles } from '@wts/read-model';
import type { CommitUnitSender } from '@wts/service-kit/call';
import type { RevocationSender } from '@wts/service-kit/nats';
import type { Idempotency } from '@wts/service-kit/routes';
import type { AskedAuth } from './queries/auth.ts';
import type { InvitationStore } from './store/invitations.ts';
import type { PrivateProjectReads } from './store/private-projects.ts';
import type { WorkspaceReads } from './store/workspaces.ts';
import type { WrongCodeStore } from './store/wrong-codes.ts';

/** What the operations of this service use, opened once. Each operation names the part it needs. */
export interface Context extends AskedAuth {
  readonly roles: Roles;
  readonly workspaces: WorkspaceReads;
  readonly privateProjects: PrivateProjectReads;
  readonly invitations: InvitationStore;
  readonly wrongCodes: WrongCodeStore;
  /** 0: no bound. */
  readonly wrongCodesPerMinuteMax: number;
  readonly idempotency: Idempotency;
  readonly commitUnit: CommitUnitSender;
  readonly revoke: RevocationSender;
}
