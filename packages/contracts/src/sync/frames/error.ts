import { typed } from '../../type-of.ts';
import { syncIdText } from '../parts.ts';
import { frame, type FrameOf } from './frame.ts';

/** Why the server sends `{"type":"error"}`, with what the client should do. Stable names; a client may act on them. */
export const SOCKET_ERRORS = {
  BOOTSTRAP_REQUIRED:
    'the log does not hold what follows; load everything again and subscribe from there, on the same socket',
  UNAUTHORIZED: 'get another token',
  SLOW_CONSUMER: 'too much is unread: connect again and go on from `lastSyncId`',
  RESTARTING: 'connect again',
  UNAVAILABLE: 'connect again, a little later',
  INVALID_FRAME: 'a fault of the client: the frame is not as described',
  PROTOCOL_ERROR: 'a fault of the client: RFC 6455 is not kept',
  SUBSCRIBE_TIMEOUT: 'a fault of the client: no `subscribe` came in time',
  TOO_MANY_FRAMES: 'a fault of the client: too many frames in a short time',
} as const;

export type SocketErrorCode = keyof typeof SOCKET_ERRORS;

export const errorFrame = frame({
  type: 'error',
  to: 'client',
  description:
    'Why the server closes, and where to resume when you had come somewhere. After `BOOTSTRAP_REQUIRED` alone it does not close.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['type', 'code', 'message'],
    properties: {
      type: { const: 'error' },
      code: typed<SocketErrorCode>({
        type: 'string',
        enum: Object.keys(SOCKET_ERRORS),
        description: 'Stable name of the error, for programs.',
      }),
      message: { type: 'string', description: 'What happened, for a person.' },
      lastSyncId: { ...syncIdText, description: 'Where to resume.' },
    },
  },
  example: { type: 'error', code: 'SLOW_CONSUMER', message: 'Too slow: connect again', lastSyncId: '43' },
});

export type ErrorFrame = FrameOf<typeof errorFrame>;
