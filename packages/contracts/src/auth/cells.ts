import { contract, internalOf } from '../contract.ts';
import { count, objectOf, okBody, uuid } from '../parts.ts';

/*
 * What the services of a cell ask the directory of an installation of several cells, which the auth service keeps. A cell names itself by
 * its number.
 */

const ofWorkspace = internalOf('workspace');

const shard = count;

/** Before a workspace is committed: its urlKey is unique over all cells. */
export const internalClaimWorkspace = contract({
  ...ofWorkspace,
  id: 'internalClaimWorkspace',
  path: '/internal/cells/claim',
  summary: 'Claims the urlKey of a new workspace, and gives its cell a copy of the record of its first owner',
  body: objectOf({ workspaceId: uuid, urlKey: { type: 'string', maxLength: 100 }, userId: uuid, shard }),
  reply: { status: 200, schema: okBody({}) },
  errors: ['slug_taken'],
});

export const internalReadCells = contract({
  ...ofWorkspace,
  id: 'internalReadCells',
  path: '/internal/cells',
  summary: 'The public address of a cell, and of those in which a person may have more workspaces',
  body: objectOf(
    {
      userId: uuid,
      shard,
    },
    {
      workspaceId: { ...uuid, description: 'The only workspace that the credential of the person is for.' },
    },
  ),
  reply: {
    status: 200,
    schema: okBody({ baseUrl: { type: 'string' }, elsewhere: { type: 'array', items: { type: 'string' } } }),
  },
});
