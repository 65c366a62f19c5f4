import type { Rule } from './rule.ts';

/** How people sign in, consent and join, on the pages of {auth_url}. */
export const people: readonly Rule[] = [
  {
    id: 'authentication.pages.closed',
    source: 'Design 10',
    text: 'A page of {auth_url} runs no script, is not framed and not stored, sends no referrer, and its forms lead only where it names.',
    home: 'services/auth/src/pages/layout.ts',
  },
  {
    id: 'authentication.pages.forged-forms',
    source: 'Design 10',
    text: 'A form without the token of the browser or of the session, or from another site, changes nothing.',
    home: 'services/auth/src/http/mount-page.ts',
  },
  {
    id: 'authentication.accounts.throttled',
    source: 'Design 10',
    text: 'Failed sign-ins are limited by account and network, by network, and by account from all networks. An attacker in one network keeps the owner out nowhere else, and no attacker in a browser in which the owner signed in before; a network does not tell its accounts from other addresses.',
    home: 'services/auth/src/commands/sign-in-by-password.ts',
  },
  {
    id: 'authentication.accounts.equal-work',
    source: 'Design 10',
    text: 'A sign-in with an unknown address takes the same work and has the same answer as one with a wrong password.',
    home: 'services/auth/src/commands/sign-in-by-password.ts',
  },
  {
    id: 'authentication.accounts.password-change',
    source: 'Design 10',
    text: 'A change of the password ends all other sessions and revokes all grants of the person.',
    home: 'services/auth/src/commands/change-password.ts',
  },
  {
    id: 'authentication.accounts.off',
    source: 'Design 10',
    text: 'With `ACCOUNTS=off` no person signs in by password, registers an account or changes a password; sessions that began with a password end, and the grants of their people are revoked.',
    home: 'services/auth/src/http/sign-in.ts',
  },
  {
    id: 'authentication.accounts.plain-address',
    source: 'Design 4',
    text: 'An account has an address of visible ASCII characters, with a domain of other letters in its ASCII form, so that no address looks like another one.',
    home: 'services/auth/src/commands/register-account.ts',
  },
  {
    id: 'authentication.people.address',
    source: 'Design 4',
    text: 'A person is shown without an address that is not verified when another person has it.',
    home: 'services/auth/src/commands/resolve-person.ts',
  },
  {
    id: 'authentication.sessions.end',
    source: 'Design 10',
    text: 'A session gets a new secret at the sign-in, and ends by a sign-out, after 14 days without use, and after 30 days.',
    home: 'services/auth/src/store/sessions.ts',
  },
  {
    id: 'authentication.provider.sign-in',
    source: 'Design 10',
    text: 'A person who signs in at the configured OpenID provider is the same as by a token of that provider at the API.',
    home: 'services/auth/src/accounts/identity-provider.ts',
  },
  {
    id: 'authentication.provider.address',
    source: 'Design 10',
    text: 'The address of a person and whether it is verified are from one answer of the provider.',
    home: 'services/auth/src/domain/merged-claims.ts',
  },
  {
    id: 'authentication.provider.faults',
    source: 'Design 10',
    text: 'A provider that is down, slow or answers wrongly signs no person in, and the person gets a page.',
    home: 'services/auth/src/accounts/identity-provider.ts',
  },
  {
    id: 'authentication.consent.always',
    source: 'Design 10',
    text: 'The consent is never skipped, and names the client, the host of the redirect, what it may do, and the person.',
    home: 'services/auth/src/http/authorize.ts',
  },
  {
    id: 'authentication.consent.choices',
    source: 'Design 10',
    text: 'The person may allow less than the app asks for: reading only, one workspace, and an end that no refresh moves. A choice never widens what was asked for.',
    home: 'services/auth/src/commands/decide-consent.ts',
  },
  {
    id: 'authentication.consent.early-click',
    source: 'Design 10',
    text: 'The buttons of a decision take no click in the first 800 ms, so a click that was meant for the page before decides nothing.',
    home: 'services/auth/src/pages/style.ts',
  },
  {
    id: 'authentication.consent.client-name',
    source: 'Design 10',
    text: 'The name of a client is shown without markup, control and direction characters, and with at most 100 characters.',
    home: 'services/auth/src/domain/shown-name.ts',
  },
  {
    id: 'authentication.consent.redirect',
    source: 'Design 10',
    text: 'A decision is answered with 303 to the registered address with `code` or `error`, `state` unchanged and `iss`; an address that is not registered gets nothing.',
    home: 'services/auth/src/http/authorize.ts',
  },
  {
    id: 'authentication.connect.page',
    source: 'Design 11',
    text: 'A page of `{auth_url}` asks the person each time before a command line gets a key; it names the tool, the person and where the answer goes, and shows a code to copy where there is no port.',
    home: 'services/auth/src/http/connect.ts',
  },
  {
    id: 'authentication.connect.loopback',
    source: 'Design 11',
    text: 'The answer of the page goes to `/callback` at a port of 127.0.0.1 from 1024 on, and nowhere else.',
    home: 'services/auth/src/http/connect.ts',
  },
  {
    id: 'authentication.connect.key',
    source: 'Design 11',
    text: 'The code of a command line becomes a personal API key with the access, the end and the workspace that the person chose, read only and 90 days unless they chose other ones.',
    home: 'services/auth/src/http/connect.ts',
  },
  {
    id: 'authentication.connect.sign-out',
    source: 'Design 11',
    text: 'A command line that has a key revokes it by its token alone, also one that can only read.',
    home: 'services/auth/src/http/connect.ts',
  },
  {
    id: 'authentication.connect.code-once',
    source: 'Design 11',
    text: 'Such a code works once, with the S256 verifier of its challenge, for 60 seconds, five minutes when it is copied, and while the session lasts. A wrong verifier ends it; a second exchange revokes its key.',
    home: 'services/auth/src/commands/connect-tool.ts',
  },
  {
    id: 'workspaces.invitations.page',
    source: 'Design 10',
    text: 'A person with an invitation joins on a page, with a new account or as the person who is signed in.',
    home: 'services/workspace/src/commands/read-invitation.ts',
  },
];
