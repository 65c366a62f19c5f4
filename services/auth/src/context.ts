import type { RoleRules } from '@wts/read-model';
import type { CommitUnitSender } from '@wts/service-kit/call';
import type { RevocationSender } from '@wts/service-kit/nats';
import type { Idempotency } from '@wts/service-kit/routes';
import type { SecretKeys } from '@wts/service-kit/sealing';
import type { IdentityProvider } from './accounts/identity-provider.ts';
import type { Passkeys } from './accounts/passkeys.ts';
import type { PasswordHashes } from './accounts/password-hashes.ts';
import type { Cells } from './cells/cells.ts';
import type { KeyUse } from './credentials/key-use.ts';
import type { Directory } from './directory/directory.ts';
import type { OperatorPeople } from './directory/operator-people.ts';
import type { OperatorWorkspaces } from './directory/operator-workspaces.ts';
import type { PersonCopies } from './directory/person-copies.ts';
import type { IdentityClaims } from './domain/profile.ts';
import type { Mailer } from './mail/mailer.ts';
import type { Notices } from './mail/notices.ts';
import type { ServiceMetrics } from './metrics.ts';
import type { OAuth } from './oauth/oauth.ts';
import type { SecurityRecord } from './record/security-record.ts';
import type { Account, AccountStore } from './store/accounts.ts';
import type { ApiKeyStore } from './store/api-keys.ts';
import type { CellStore } from './store/cells.ts';
import type { ConnectCodeStore } from './store/connect-codes.ts';
import type { DisabledPeople } from './store/disabled-people.ts';
import type { EventStore } from './store/events.ts';
import type { IdentityStore } from './store/identities.ts';
import type { MailLinkStore } from './store/mail-links.ts';
import type { MoveStore } from './store/moves.ts';
import type { OperatorTokenStore } from './store/operator-tokens.ts';
import type { PendingRequestStore } from './store/pending-requests.ts';
import type { PersonalDatum } from './store/personal-data.ts';
import type { RevocationReads } from './store/revocations.ts';
import type { SecondFactorStore } from './store/second-factors.ts';
import type { Sessions } from './store/sessions.ts';
import type { SignInAttemptStore } from './store/sign-in-attempts.ts';
import type { WorkspacePolicyStore } from './store/workspace-policies.ts';

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
  /** AUTH_URL without a trailing slash. */
  readonly issuer: string;
  readonly revocations: RevocationReads;
  readonly idempotency: Idempotency;
  readonly apiKeyPrefix: string;
  /** Commits in the first cell, where people are created and changed. */
  readonly commitUnit: CommitUnitSender;
  readonly revoke: RevocationSender;
  readonly keyUse: KeyUse;
  readonly mailer: Mailer;
  readonly notices: Notices;
  readonly metrics: ServiceMetrics;
}

/** What people use besides: sign-in, accounts, and what they allow to apps and tools. */
export interface PeopleContext extends Context {
  /** People may sign in by password. */
  readonly hasAccounts: boolean;
  readonly provider: IdentityProvider | null;
  readonly sessions: Sessions;
  readonly accounts: AccountStore;
  readonly attempts: SignInAttemptStore;
  readonly passwords: PasswordHashes;
  readonly passkeys: Passkeys;
  /** AUTH_SECRET_KEY, which seals the secrets of authenticator apps, and what waits for a link. */
  readonly secretKeys: SecretKeys;
  readonly pending: PendingRequestStore;
  readonly links: MailLinkStore;
  readonly connectCodes: ConnectCodeStore;
  readonly oauth: OAuth;
  readonly events: Pick<EventStore, 'listOf'>;
  /** The person of an identity; created when they are new. */
  readonly resolve: (claims: IdentityClaims) => Promise<string>;
  readonly personOf: (account: Account) => Promise<string>;
}

/** What operators use besides. */
export interface OperatorContext extends PeopleContext {
  readonly tokens: OperatorTokenStore;
  readonly disabled: DisabledPeople;
  readonly moves: MoveStore;
  readonly people: OperatorPeople;
  readonly workspaces: OperatorWorkspaces;
  readonly personalData: (userId: string) => AsyncIterable<PersonalDatum>;
}
