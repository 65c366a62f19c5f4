import type { Rows } from './rule.ts';

/** What the operator of an installation can do, at {auth_url}/operator and by `wts admin`. */
// prettier-ignore
export const operator: Rows = [
  ['operator.token.only', 'An operation of operators needs an operator token that is not revoked; no key, session, cookie or token of a person counts.', 'services/auth/src/http/operator-guard.ts', 'Decision 0032'],
  ['operator.token.made-here', 'Operator tokens are made, listed and revoked only by a program with the database of auth, are shown once and stored as a hash.', 'services/auth/src/operator.ts', 'Decision 0032'],
  ['operator.people.find', 'People are found by a part of their name, of an address that they sign in with, or by their id, in pages; a text in the addresses of more than 10,000 people is answered with 400, so that none is left out.', 'services/auth/src/directory/operator-people.ts', 'Decision 0032'],
  ['operator.disable.everywhere', 'A disabled person signs in by no password, passkey, provider or token of an issuer; sessions and grants end, API keys work no more until the person is enabled, and open sockets close within a second on every replica.', 'services/auth/src/commands/disable-person.ts', 'Decision 0032'],
  ['operator.owner.once', 'The first owner, their account and their workspace are created once, however often and from however many places at once it is asked.', 'services/auth/src/commands/create-owner.ts', 'Decision 0032'],
  ['operator.move.begins', 'An operator moves a workspace into another cell of the installation, one move at a time; a wrong id, an unknown cell and the cell that it is in are refused.', 'services/auth/src/commands/move-workspace.ts', 'Decision 0040'],
  ['operator.move.cancel', 'Until the workspace is in the other cell a move can be cancelled: people go on where they were, and the copy is deleted.', 'services/auth/src/commands/move-workspace.ts', 'Decision 0040'],
  ['operator.factors.remove', 'An operator removes all second factors of a person at once, recovery codes included; then the password is enough, or the sign-in leads to a new factor where one is required.', 'services/auth/src/commands/remove-second-factors.ts', 'Decision 0032'],
  ['operator.export.whole', 'The export of a person has everything that is stored of them and no secret, one JSON object a line, and its last line counts the others.', 'services/auth/src/directory/personal-data.ts', 'Decision 0032'],
  ['operator.erase.gone', 'An erased person is in no workspace, has no name, address, picture or credential, and never signs in again; the answer says what stays.', 'services/auth/src/commands/erase-person.ts', 'Decision 0032'],
  ['sync.people.erased', 'The erasure of a person also reaches the workspaces that they left, in snapshots and as an entry of the log.', 'services/sync/src/rules/effects.ts', 'Decision 0032'],
  ['operator.clients.closed', 'With `CLIENT_REGISTRATION=closed` no client registers itself, the metadata names no registration, and a document of a client counts only when an operator listed it.', 'services/auth/src/http/register.ts', 'Decision 0032'],
  ['operator.cli', '`wts admin` has a command for each operation of operators, sends the operator token only to where people of the service sign in, and asks before it erases or deletes.', 'packages/cli/src/commands/admin-person.ts', 'Decision 0032'],
];
