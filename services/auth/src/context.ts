import type { RoleRules } from '@wts/read-model';
import type { CommitUnitSender } from '@wts/service-kit/call';
import type { RevocationSender } from '@wts/service-kit/nats';
import type { Idempotency } from '@wts/service-kit/routes';
import type { Cells } from './cells/cells.ts';
import type { Directory } from './directory/directory.ts';
import type { PersonCopies } from './directory/person-copies.ts';
import type { KeyUse } from './credentials/key-use.ts';
import type { Mail } from './mail/open-mail.ts';
import type { ServiceMetrics } from './metrics.ts';
import type { SecurityRecord } from './record/security-record.ts';
import type { ApiKeyStore } from './store/api-keys.ts';
import type { CellStore } from './store/cells.ts';
import type { IdentityStore } from './store/identities.ts';
import type { SecondFactorStore } from './store/second-factors.ts';
import type { WorkspacePolicyStore } from './store/workspace-policies.ts';
import type { RevocationReads } from './store/revocations.ts';

/** What the operations of this service use, opened once. Each operation names the part it needs. */
export interface Context {
  readonly roles: RoleRules;
  readonly cells: Cells;
  readonly directory: Directory;
  /** Which cell has which workspace. */
  readonly workspaceCells: CellStore;
  /** Makes sure that a cell has the record of a person, before they act there. */
  readonly copyPerson: PersonCopies['copy'];
  readonly identities: IdentityStore;
  readonly keys: ApiKeyStore;
  readonly record: SecurityRecord;
  readonly factors: SecondFactorStore;
  readonly policies: WorkspacePolicyStore;
  /** The address where people manage their account. */
  readonly accountPage: string;
  readonly revocations: RevocationReads;
  readonly idempotency: Idempotency;
  readonly apiKeyPrefix: string;
  /** Commits in the first cell, where people are created and changed. */
  readonly commitUnit: CommitUnitSender;
  readonly revoke: RevocationSender;
  readonly keyUse: KeyUse;
  readonly mail: Pick<Mail, 'mailer' | 'notices'>;
  readonly metrics: ServiceMetrics;
}
