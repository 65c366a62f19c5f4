import { contract, internalOf } from '../contract.ts';
import { INVITABLE_ROLES } from '../members.ts';
import { objectOf, okBody, timestamp, uuid } from '../parts.ts';

/** Mails an invitation to its address. `isMailed`: false where no mail is sent, or too many were. */
export const internalMailInvitation = contract({
  ...internalOf('workspace'),
  id: 'internalMailInvitation',
  path: '/internal/mails/invitation',
  summary: 'Mail an invitation to its address',
  body: objectOf({
    code: { type: 'string', minLength: 1, maxLength: 200 },
    email: { type: 'string', maxLength: 320 },
    workspaceName: { type: 'string' },
    role: { type: 'string', enum: INVITABLE_ROLES },
    createdBy: uuid,
    expiresAt: timestamp,
  }),
  reply: { status: 200, schema: okBody({ isMailed: { type: 'boolean' } }) },
});
