import type { Roles } from '@wts/read-model';
import type { Invitation } from '@wts/contracts';
import type { CommitUnitSender } from '@wts/service-kit/call';
import type { RevocationSender } from '@wts/service-kit/nats';
import type { Idempotency } from '@wts/service-kit/routes';
import type { CellDirectory } from './queries/cell.ts';
import type { AddressReader } from './queries/read-addresses.ts';
import type { JoiningCheck } from './queries/check-joining.ts';
import type { InvitationStore } from './store/invitations.ts';
import type { PrivateProjectReads } from './store/private-projects.ts';
import type { WorkspaceReads } from './store/workspaces.ts';
import type { WrongCodeStore } from './store/wrong-codes.ts';

/** Sends an invitation to its address. Never rejects: the code is in the answer of the creation anyway. */
export type InvitationMailer = (
  invitation: Invitation & { readonly code: string },
  workspaceName: string,
) => Promise<void>;

/** What the operations of this service use, opened once. Each operation names the part it needs. */
export interface Context {
  readonly roles: Roles;
  readonly workspaces: WorkspaceReads;
  readonly privateProjects: PrivateProjectReads;
  readonly invitations: InvitationStore;
  readonly wrongCodes: WrongCodeStore;
  /** 0: no bound. */
  readonly wrongCodesPerMinuteMax: number;
  readonly addressesOf: AddressReader;
  readonly checkJoining: JoiningCheck;
  /** Null in an installation of one cell. */
  readonly cell: CellDirectory | null;
  readonly mailInvitation: InvitationMailer;
  readonly idempotency: Idempotency;
  readonly commitUnit: CommitUnitSender;
  readonly revoke: RevocationSender;
}
