import type { Knex } from 'knex';
import type { CreateOwnerContext } from './commands/create-owner.ts';
import type { MoveContext } from './commands/move-workspace.ts';
import type { EraseContext } from './commands/erase-person.ts';
import { makeResetLink } from './links/make-link.ts';
import type { Context } from './context.ts';
import type { OAuth } from './oauth/oauth.ts';
import type { PeopleContext } from './people-context.ts';
import type { Account } from './store/accounts.ts';
import { disabledPeople } from './store/disabled-people.ts';
import { operatorPeople } from './directory/operator-people.ts';
import { operatorWorkspaces } from './directory/operator-workspaces.ts';
import { personalData } from './directory/personal-data.ts';
import { moveStore } from './store/moves.ts';
import { operatorTokenStore, type OperatorTokenStore } from './store/operator-tokens.ts';
import { personStates } from './store/person-states.ts';
import { ownPersonalData, type PersonalDatum } from './store/personal-data.ts';

/** What the operations of operators use, opened once. */
export interface OperatorContext extends EraseContext, CreateOwnerContext, MoveContext {
  readonly tokens: OperatorTokenStore;
  readonly idempotency: Context['idempotency'];
  readonly accounts: PeopleContext['accounts'];
  readonly oauth: OAuth;
  readonly personalData: (userId: string) => AsyncIterable<PersonalDatum>;
  /** A link to choose a password, for the operator to pass on. */
  readonly resetLink: (account: Account) => Promise<{ readonly url: string; readonly expiresAt: string }>;
  /** Mails such a link to a new owner, where mail is set up. */
  readonly mailOwner: (
    account: Account,
    made: { readonly url: string; readonly workspaceName: string },
  ) => Promise<void>;
}

interface Opening {
  readonly knex: Knex;
  readonly context: Context;
  readonly people: PeopleContext;
  readonly oauth: OAuth;
}

export function openOperator({ knex, context, people, oauth }: Opening): OperatorContext {
  const { hasAccounts, accounts, attempts, passwords, personOf, links } = people;
  const { directory } = context;
  const states = personStates(knex);
  return {
    tokens: operatorTokenStore(knex),
    idempotency: context.idempotency,
    record: context.record,
    cells: context.cells,
    directory,
    workspaceCells: context.workspaceCells,
    copyPerson: context.copyPerson,
    moves: moveStore(knex),
    revoke: context.revoke,
    hasAccounts,
    accounts,
    attempts,
    passwords,
    personOf,
    oauth,
    grants: oauth.grants,
    disabled: disabledPeople(knex),
    people: operatorPeople(directory, states),
    workspaces: operatorWorkspaces(directory, states),
    personalData: (userId) => personalData(directory, userId, ownPersonalData(knex, userId)),
    mailOwner: async ({ email }, data) => {
      await people.mailer.add({ kind: 'account-made', to: email, data });
    },
    resetLink: async (account) => {
      const { url, expiresAt } = await makeResetLink({ links, issuer: oauth.issuer }, account, 'given');
      return { url, expiresAt: expiresAt.toISOString() };
    },
  };
}
