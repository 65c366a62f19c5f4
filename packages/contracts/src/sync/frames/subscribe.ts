import { LIMITS } from '../../limits.ts';
import { syncIdText } from '../parts.ts';
import { frame, type FrameOf } from './frame.ts';

/** Fields that published clients add are ignored, as in bodies. */
export const subscribeFrame = frame({
  type: 'subscribe',
  to: 'server',
  description: `The first frame. Send it within ${LIMITS.socketSubscribeTimeoutMs / 1000} seconds; you may send it again later, when frames of other types are ignored. A list \`groups\` narrows what you get and implies letters, like \`syncGroups\` in deltas.`,
  schema: {
    type: 'object',
    required: ['type', 'afterSyncId'],
    properties: {
      type: { const: 'subscribe' },
      afterSyncId: { ...syncIdText, description: 'The cursor: only later changes are sent.' },
      token: { type: 'string', maxLength: LIMITS.credentialChars, description: 'Any credential of the same person.' },
      groups: {
        type: 'array',
        maxItems: LIMITS.socketGroupsMax,
        items: { type: 'string' },
        description: 'Narrows, never widens; empty for all. Also asks for letters.',
      },
      actions: { type: 'string', enum: ['words', 'letters'], description: 'Spelling of `action`.' },
    },
  },
  example: { type: 'subscribe', afterSyncId: '43', token: '…' },
});

export type SubscribeFrame = FrameOf<typeof subscribeFrame>;
