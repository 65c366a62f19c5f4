import { syncActionSchema } from '../actions.ts';
import { EXAMPLE_IDS } from '../example-ids.ts';
import { LIMITS } from '../limits.ts';
import { objectOf, uuid } from '../parts.ts';
import { typed, type JsonSchema, type TypeOf } from '../type-of.ts';
import { syncIdText } from './parts.ts';

/* The messages of `/sync/ws`. */

/** One message of the WebSocket as data, like `Contract` for HTTP. Every message is JSON with its name in `type`. */
export interface FrameContract<Frame = unknown> {
  readonly type: string;
  readonly to: 'server' | 'client';
  /** In the description. */
  readonly description: string;
  readonly schema: JsonSchema;
  /** In the description. */
  readonly example: Frame;
}

/** Declares a message; its type is derived from its schema. */
function frame<const Schema extends JsonSchema>(
  declared: Omit<FrameContract, 'schema' | 'example'> & {
    readonly schema: Schema;
    readonly example: NoInfer<TypeOf<Schema>>;
  },
): FrameContract<TypeOf<Schema>> {
  return declared;
}

type FrameOf<C> = C extends FrameContract<infer Frame> ? Frame : never;

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

/** The codes of `{"type":"error"}`, with what the client should do. The names are stable. */
export const SOCKET_ERRORS = {
  BOOTSTRAP_REQUIRED:
    'the cursor is not in the log, because it is too old or of another log: run a bootstrap and subscribe from its `lastSyncId`, on the same socket',
  UNAUTHORIZED: 'get another token',
  SLOW_CONSUMER: 'too much is unread: connect again and continue from `lastSyncId`',
  RESTARTING: 'connect again',
  UNAVAILABLE: 'connect again, a little later',
  INVALID_FRAME: 'an error of the client: the frame does not match the description',
  PROTOCOL_ERROR: 'an error of the client: it violates RFC 6455',
  SUBSCRIBE_TIMEOUT: 'an error of the client: no `subscribe` frame in time',
  TOO_MANY_FRAMES: 'an error of the client: too many frames in a short time',
} as const;

export type SocketErrorCode = keyof typeof SOCKET_ERRORS;

export const errorFrame = frame({
  type: 'error',
  to: 'client',
  description:
    'Why the server closes the socket, and the cursor to resume from. Only after `BOOTSTRAP_REQUIRED` the socket stays open.',
  schema: objectOf(
    {
      type: { const: 'error' },
      code: typed<SocketErrorCode>({
        type: 'string',
        enum: Object.keys(SOCKET_ERRORS),
        description: 'Stable name of the error, for programs.',
      }),
      message: { type: 'string', description: 'What happened, for people.' },
    },
    {
      lastSyncId: { ...syncIdText, description: 'The cursor to resume from.' },
    },
  ),
  example: { type: 'error', code: 'SLOW_CONSUMER', message: 'Reads too slowly: connect again', lastSyncId: '43' },
});

/** A message that a client receives. */
export type ServerFrame = FrameOf<typeof deltaFrame | typeof errorFrame | typeof subscribedFrame>;

export const FRAMES: readonly FrameContract[] = [subscribeFrame, subscribedFrame, deltaFrame, errorFrame];
