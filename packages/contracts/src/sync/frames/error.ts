import { objectOf } from '../../parts.ts';
import { typed } from '../../type-of.ts';
import { syncIdText } from '../parts.ts';
import { frame, type FrameOf } from './frame.ts';

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

export type ErrorFrame = FrameOf<typeof errorFrame>;
