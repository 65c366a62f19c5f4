import { objectOf } from '../../parts.ts';
import { syncActionSchema } from '../../actions.ts';
import { LIMITS } from '../../limits.ts';
import { syncIdText } from '../parts.ts';
import { frame, type FrameOf } from './frame.ts';

export const deltaFrame = frame({
  type: 'delta',
  to: 'client',
  description: `Everything after \`afterSyncId\`, ascending, then what is new; \`actions\` as in deltas, empty after every ${LIMITS.socketWatermarkMs / 1000} seconds without a change.`,
  schema: objectOf({
    type: { const: 'delta' },
    packet: objectOf({
      lastSyncId: { ...syncIdText, description: 'Your cursor after you have applied the actions.' },
      actions: { type: 'array', maxItems: LIMITS.socketPacketActionsMax, items: syncActionSchema },
    }),
  }),
  example: { type: 'delta', packet: { lastSyncId: '44', actions: [] } },
});

export type DeltaFrame = FrameOf<typeof deltaFrame>;
