import { contract, internalOf } from './contract.ts';
import { objectOf, okBody, textOrNull, timestamp, timestampOrNull, uuid } from './parts.ts';
import { ROLES } from './scopes.ts';
import { typed } from './type-of.ts';

/* How auth moves the invitations of a workspace to another cell: their codes stay valid, and are stored as hashes alone. */

const ofAuth = internalOf('auth');

/** Invitations of a page, and of a put. */
export const MOVED_INVITATIONS_MAX = 500;

const movedInvitation = objectOf({
  id: uuid,
  email: textOrNull,
  role: { type: 'string', enum: ROLES },
  /** Base64url. */
  codeHash: { type: 'string', maxLength: 64 },
  createdBy: uuid,
  createdAt: timestamp,
  expiresAt: timestamp,
  claimedBy: { ...uuid, type: ['string', 'null'] },
  redeemedAt: timestampOrNull,
});

export type MovedInvitation = NonNullable<(typeof internalPutInvitations)['shape']>['body']['invitations'][number];

/** By id; `after` is that of the last one of the page before. */
export const internalReadInvitations = contract({
  ...ofAuth,
  id: 'internalReadInvitations',
  path: '/internal/invitations/list',
  summary: 'All invitations of a workspace, also redeemed ones',
  body: objectOf(
    { workspaceId: uuid, limit: { type: 'integer', minimum: 1, maximum: MOVED_INVITATIONS_MAX } },
    { after: uuid },
  ),
  reply: { status: 200, schema: okBody({ invitations: typed<readonly MovedInvitation[]>({ type: 'array' }) }) },
});

/** The first put of a move also deletes those that an earlier move left behind (`replace`). */
export const internalPutInvitations = contract({
  ...ofAuth,
  id: 'internalPutInvitations',
  path: '/internal/invitations/put',
  summary: 'Take over invitations of a workspace',
  body: objectOf({
    workspaceId: uuid,
    invitations: { type: 'array', maxItems: MOVED_INVITATIONS_MAX, items: movedInvitation },
    replace: { type: 'boolean' },
  }),
  reply: { status: 200, schema: okBody({}) },
  errors: ['conflict'],
});
