import { EXAMPLE_IDS } from '../../example-ids.ts';
import { objectOf, uuid } from '../../parts.ts';
import { syncIdText } from '../parts.ts';
import { frame, type FrameOf } from './frame.ts';

export const subscribedFrame = frame({
  type: 'subscribed',
  to: 'client',
  description:
    'The first answer to `subscribe`. `groups` are your own id and those of your workspaces and private projects.',
  schema: objectOf({
    type: { const: 'subscribed' },
    afterSyncId: { ...syncIdText, description: 'Where the subscription begins.' },
    groups: { type: 'array', items: uuid, description: 'Your own id first.' },
  }),
  example: { type: 'subscribed', afterSyncId: '43', groups: [EXAMPLE_IDS.person, EXAMPLE_IDS.workspace] },
});

export type SubscribedFrame = FrameOf<typeof subscribedFrame>;
