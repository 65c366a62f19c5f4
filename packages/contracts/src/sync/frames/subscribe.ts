import { LIMITS } from '../../limits.ts';
import { syncIdText } from '../parts.ts';
import { frame, type FrameOf } from './frame.ts';

/** Published clients add fields of their own; these are ignored, as they are in bodies. */
export const subscribeFrame = frame({
  type: 'subscribe',
  to: 'server',
  description: `Within ${LIMITS.socketSubscribeTimeoutMs / 1000} seconds; may be sent again. With \`groups\`, a list, it narrows to these and asks for letters, as \`syncGroups\` does in deltas.`,
  schema: {
    type: 'object',
    required: ['type', 'afterSyncId'],
    properties: {
      type: { const: 'subscribe' },
      afterSyncId: { ...syncIdText, description: 'Cursor, exclusive.' },
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
