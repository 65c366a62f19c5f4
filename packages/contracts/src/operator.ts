/*
 * What the operator of an installation does with people, workspaces and clients: infra/decisions/0032-operator.md. The credential is an
 * operator token, which the auth service checks itself, and no operation of the API takes one.
 */
export * from './operator/clients.ts';
export * from './operator/moves.ts';
export * from './operator/people.ts';
export * from './operator/workspaces.ts';
