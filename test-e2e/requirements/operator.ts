import type { Rule } from './rule.ts';

/** What the operator of an installation can do, at {auth_url}/operator and by `wts admin`. */
export const operator: readonly Rule[] = [
  {
    id: 'operator.token.only',
    source: 'Decision 0032',
    text: 'An operation of operators needs an operator token that is not revoked; no key, session, cookie or token of a person counts.',
    home: 'services/auth/src/http/operator-guard.ts',
  },
  {
    id: 'operator.token.made-here',
    source: 'Decision 0032',
    text: 'Operator tokens are made, listed and revoked only by a program with the database of auth, are shown once and stored as a hash.',
    home: 'services/auth/src/operator.ts',
  },
  {
    id: 'operator.people.find',
    source: 'Decision 0032',
    text: 'People are found by a part of their name, of an address that they sign in with, or by their id, in pages; a text in the addresses of more than 10,000 people is answered with 400, so that none is left out.',
    home: 'services/auth/src/directory/operator-people.ts',
  },
  {
    id: 'operator.disable.everywhere',
    source: 'Decision 0032',
    text: 'A disabled person signs in by no password, passkey, provider or token of an issuer; sessions and grants end, API keys work no more until the person is enabled, and open sockets close within a second on every replica.',
    home: 'services/auth/src/commands/disable-person.ts',
  },
  {
    id: 'operator.owner.once',
    source: 'Decision 0032',
    text: 'The first owner, their account and their workspace are created once, however often and from however many places at once it is asked.',
    home: 'services/auth/src/commands/create-owner.ts',
  },
  {
    id: 'operator.move.begins',
    source: 'Decision 0040',
    text: 'An operator moves a workspace into another cell of the installation, one move at a time; a wrong id, an unknown cell and the cell that it is in are refused.',
    home: 'services/auth/src/commands/move-workspace.ts',
  },
  {
    id: 'operator.move.cancel',
    source: 'Decision 0040',
    text: 'Until the workspace is in the other cell a move can be cancelled: people go on where they were, and the copy is deleted.',
    home: 'services/auth/src/commands/move-workspace.ts',
  },
  {
    id: 'operator.factors.remove',
    source: 'Decision 0032',
    text: 'An operator removes all second factors of a person at once, recovery codes included; then the password is enough, or the sign-in leads to a new factor where one is required.',
    home: 'services/auth/src/commands/remove-second-factors.ts',
  },
  {
    id: 'operator.export.whole',
    source: 'Decision 0032',
    text: 'The export of a person has everything that is stored of them and no secret, one JSON object a line, and its last line counts the others.',
    home: 'services/auth/src/directory/personal-data.ts',
  },
  {
    id: 'operator.erase.gone',
    source: 'Decision 0032',
    text: 'An erased person is in no workspace, has no name, address, picture or credential, and never signs in again; the answer says what stays.',
    home: 'services/auth/src/commands/erase-person.ts',
  },
  {
    id: 'sync.people.erased',
    source: 'Decision 0032',
    text: 'The erasure of a person also reaches the workspaces that they left, in snapshots and as an entry of the log.',
    home: 'services/sync/src/commit/effects.ts',
  },
  {
    id: 'operator.clients.closed',
    source: 'Decision 0032',
    text: 'With `CLIENT_REGISTRATION=closed` no client registers itself, the metadata names no registration, and a document of a client counts only when an operator listed it.',
    home: 'services/auth/src/http/register.ts',
  },
  {
    id: 'operator.cli',
    source: 'Decision 0032',
    text: '`wts admin` has a command for each operation of operators, sends the operator token only to where people of the service sign in, and asks before it erases or deletes.',
    home: 'packages/cli/src/commands/admin-person.ts',
  },
];
