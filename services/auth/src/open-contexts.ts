import { parseSecretKeys } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';
import { IdentityProvider } from './accounts/identity-provider.ts';
import { Passkeys } from './accounts/passkeys.ts';
import { PasswordHashes } from './accounts/password-hashes.ts';
import { resolvePerson } from './commands/resolve-person.ts';
import type { Config } from './config.ts';
import type { Context, OperatorContext, PeopleContext } from './context.ts';
import { operatorPeople } from './directory/operator-people.ts';
import { operatorWorkspaces } from './directory/operator-workspaces.ts';
import { personalData } from './directory/personal-data.ts';
import { PRODUCT } from './domain/product.ts';
import type { IdentityClaims } from './domain/profile.ts';
import type { OAuth } from './oauth/oauth.ts';
import { ACCOUNT_ISSUER, accountStore } from './store/accounts.ts';
import { connectCodeStore } from './store/connect-codes.ts';
import { disabledPeople } from './store/disabled-people.ts';
import { eventStore } from './store/events.ts';
import { mailLinkStore } from './store/mail-links.ts';
import { moveStore } from './store/moves.ts';
import { operatorTokenStore } from './store/operator-tokens.ts';
import { pendingRequestStore } from './store/pending-requests.ts';
import { personStates } from './store/person-states.ts';
import { ownPersonalData } from './store/personal-data.ts';
import type { Sessions } from './store/sessions.ts';
import { signInAttemptStore } from './store/sign-in-attempts.ts';

interface Opening {
  readonly config: Config;
  readonly knex: Knex;
  readonly context: Context;
  readonly sessions: Sessions;
  readonly oauth: OAuth;
}

export function openPeople({ config, knex, context, sessions, oauth }: Opening): PeopleContext {
  const resolve = (claims: IdentityClaims): Promise<string> => resolvePerson(context, claims);
  const { provider } = config;
  return {
    ...context,
    hasAccounts: config.hasAccounts,
    provider: provider === undefined ? null : new IdentityProvider(provider, `${context.issuer}/sign-in/callback`),
    sessions,
    accounts: accountStore(knex),
    attempts: signInAttemptStore(knex),
    passwords: new PasswordHashes(config.passwordCostLog2),
    passkeys: new Passkeys({ ...config, name: PRODUCT }),
    secretKeys: parseSecretKeys(config.secretKey),
    pending: pendingRequestStore(knex),
    links: mailLinkStore(knex),
    connectCodes: connectCodeStore(knex),
    oauth,
    events: eventStore(knex),
    resolve,
    personOf: ({ id, name, email, emailVerified }) =>
      resolve({ issuer: ACCOUNT_ISSUER, subject: id, name, email, emailVerified }),
  };
}

export function openOperator(knex: Knex, context: PeopleContext): OperatorContext {
  const { directory } = context;
  const states = personStates(knex);
  return {
    ...context,
    tokens: operatorTokenStore(knex),
    disabled: disabledPeople(knex),
    moves: moveStore(knex),
    people: operatorPeople(directory, states),
    workspaces: operatorWorkspaces(directory, states),
    personalData: (userId) => personalData(directory, userId, ownPersonalData(knex, userId)),
  };
}
