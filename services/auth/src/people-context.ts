import { servicePrincipal } from '@wts/access';
import type { Principal } from '@wts/contracts';
import type { CommitUnitSender } from '@wts/service-kit/call';
import { parseSecretKeys, type SecretKeys } from '@wts/service-kit/sealing';
import type { ConfigOf } from '@wts/service-kit/config';
import type { Knex } from 'knex';
import { resolvePerson } from './commands/resolve-person.ts';
import type { settings } from './config.ts';
import type { Context } from './context.ts';
import { IdentityProvider } from './accounts/identity-provider.ts';
import { PRODUCT } from './domain/product.ts';
import type { Cells } from './cells/cells.ts';
import type { Directory } from './directory/directory.ts';
import type { IdentityClaims } from './domain/profile.ts';
import type { ServiceMetrics } from './metrics.ts';
import type { OAuth } from './oauth/oauth.ts';
import { Passkeys } from './accounts/passkeys.ts';
import type { Mailer } from './mail/mailer.ts';
import type { Notices } from './mail/notices.ts';
import { PasswordHashes } from './accounts/password-hashes.ts';
import { ACCOUNT_ISSUER, accountStore, type Account, type AccountStore } from './store/accounts.ts';
import { mailLinkStore, type MailLinkStore } from './store/mail-links.ts';
import type { SecurityRecord } from './record/security-record.ts';
import { connectCodeStore, type ConnectCodeStore } from './store/connect-codes.ts';
import { eventStore, type EventStore } from './store/events.ts';
import type { IdentityStore } from './store/identities.ts';
import { pendingRequestStore, type PendingRequestStore } from './store/pending-requests.ts';
import type { SecondFactorStore } from './store/second-factors.ts';
import { signInAttemptStore, type SignInAttemptStore } from './store/sign-in-attempts.ts';

/** What the pages use, opened once. */
export interface PeopleContext {
  /** People may sign in by password. */
  readonly hasAccounts: boolean;
  readonly provider: IdentityProvider | null;
  readonly accounts: AccountStore;
  readonly attempts: SignInAttemptStore;
  readonly passwords: PasswordHashes;
  readonly passkeys: Passkeys;
  readonly factors: SecondFactorStore;
  /** AUTH_SECRET_KEY, which seals the secrets of authenticator apps, and what waits for a link. */
  readonly secretKeys: SecretKeys;
  readonly pending: PendingRequestStore;
  readonly links: MailLinkStore;
  readonly mailer: Mailer;
  readonly notices: Notices;
  readonly connectCodes: ConnectCodeStore;
  readonly oauth: Pick<OAuth, 'issuer' | 'resources' | 'findClient' | 'grants'>;
  readonly record: SecurityRecord;
  readonly events: Pick<EventStore, 'listOf'>;
  readonly commitUnit: CommitUnitSender;
  readonly metrics: Pick<ServiceMetrics, 'signIn'>;
  readonly identities: Pick<IdentityStore, 'find'>;
  readonly keys: Pick<Context, 'keys' | 'roles' | 'directory' | 'apiKeyPrefix' | 'revoke' | 'record'>;
  readonly cells: Cells;
  readonly directory: Directory;
  /** This service, for calls without a person. */
  readonly self: Principal;
  /** The person of an identity; created when they are new. */
  readonly resolve: (claims: IdentityClaims) => Promise<string>;
  readonly personOf: (account: Account) => Promise<string>;
}

interface Opening {
  readonly config: ConfigOf<typeof settings>;
  readonly knex: Knex;
  readonly context: Context;
  readonly oauth: OAuth;
}

export function openPeople({ config, knex, context, oauth }: Opening): PeopleContext {
  const resolve = (claims: IdentityClaims): Promise<string> => resolvePerson(context, claims);
  const { provider } = config;
  return {
    hasAccounts: config.hasAccounts,
    provider: provider === undefined ? null : new IdentityProvider(provider, `${oauth.issuer}/sign-in/callback`),
    accounts: accountStore(knex),
    attempts: signInAttemptStore(knex),
    passwords: new PasswordHashes(config.passwordCostLog2),
    passkeys: new Passkeys({ ...config, name: PRODUCT }),
    factors: context.factors,
    secretKeys: parseSecretKeys(config.secretKey),
    pending: pendingRequestStore(knex),
    links: mailLinkStore(knex),
    mailer: context.mail.mailer,
    notices: context.mail.notices,
    connectCodes: connectCodeStore(knex),
    oauth,
    record: context.record,
    events: eventStore(knex),
    commitUnit: context.commitUnit,
    metrics: context.metrics,
    identities: context.identities,
    keys: context,
    cells: context.cells,
    directory: context.directory,
    self: servicePrincipal('auth'),
    resolve,
    personOf: ({ id, name, email, emailVerified }) =>
      resolve({ issuer: ACCOUNT_ISSUER, subject: id, name, email, emailVerified }),
  };
}
