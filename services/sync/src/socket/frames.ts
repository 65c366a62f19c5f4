import { Fault, LIMITS, parseJson, parseSyncId } from '@wts/contracts';
import { listText, type Dialect } from '../deltas/entry.ts';
import { frameHeader, textFrame } from '../hub/packet.ts';

/** Why a socket hears `{"type":"error"}`. Stable names; a client may act on them. */
export type SocketErrorCode =
  | 'BOOTSTRAP_REQUIRED'
  | 'UNAUTHORIZED'
  | 'INVALID_FRAME'
  | 'SUBSCRIBE_TIMEOUT'
  | 'SLOW_CONSUMER'
  | 'TOO_MANY_FRAMES'
  | 'PROTOCOL_ERROR'
  | 'RESTARTING'
  | 'UNAVAILABLE';

/** What a client may ask for. */
export interface Subscribe {
  readonly after: bigint;
  readonly token: string | undefined;
  /** Groups to narrow to; empty for all the caller may see. */
  readonly groups: ReadonlySet<string>;
  readonly dialect: Dialect;
}

export type ClientFrame =
  | { readonly kind: 'subscribe'; readonly subscribe: Subscribe }
  /** Another feature's frame, or one of a later version: nothing to do. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'invalid'; readonly message: string };

const GROUPS_MAX = 1_000;

/**
 * Reads one text frame, as strictly as a body; `asked` is the spelling that the URL asked for. Keeps sync.socket.subscribe.
 * Keeps sync.socket.bad-frame.
 */
export function parseClientFrame(bytes: Uint8Array, asked: Dialect | undefined): ClientFrame {
  let frame: unknown;
  try {
    frame = parseJson(bytes);
  } catch (error) {
    return invalid(error instanceof Fault ? error.message : 'the frame is not JSON');
  }
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) return invalid('the frame is not an object');
  const { type, afterSyncId, token, groups, actions } = frame as Record<string, unknown>;
  if (typeof type !== 'string') return invalid('type must be a string');
  if (type !== 'subscribe') return { kind: 'ignored' };

  const after = parseSyncId(afterSyncId);
  if (after === null) return invalid('afterSyncId must be a decimal string of at most 19 digits');
  if (token !== undefined && (typeof token !== 'string' || token.length > LIMITS.credentialChars)) {
    return invalid('token must be a string');
  }
  if (groups !== undefined && !isGroupList(groups)) {
    return invalid(`groups must be an array of at most ${GROUPS_MAX} strings`);
  }
  if (actions !== undefined && !isDialect(actions)) return invalid('actions must be "words" or "letters"');
  return {
    kind: 'subscribe',
    subscribe: {
      after,
      token,
      groups: new Set(groups),
      // Only clients that read letters name their groups.
      dialect: actions ?? asked ?? (groups === undefined ? 'words' : 'letters'),
    },
  };
}

export function isDialect(text: unknown): text is Dialect {
  return text === 'words' || text === 'letters';
}

function isGroupList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= GROUPS_MAX && value.every((group) => typeof group === 'string');
}

function invalid(message: string): ClientFrame {
  return { kind: 'invalid', message };
}

/** The rest of the frame, as long as the list is there: a thousand sockets of one person are told of the same groups. */
const listTexts = new WeakMap<readonly string[], Buffer>();

/** In two pieces, of which the second is shared by all who are told of the same groups. Keeps sync.socket.subscribed. */
export function subscribedFrame(after: bigint, groups: readonly string[]): [Buffer, Buffer] {
  let rest = listTexts.get(groups);
  if (rest === undefined) listTexts.set(groups, (rest = Buffer.from(`${listText(groups)}}`)));
  const begin = Buffer.from(`{"type":"subscribed","afterSyncId":"${after}","groups":`);
  return [Buffer.concat([frameHeader(begin.length + rest.length), begin]), rest];
}

/** `lastSyncId` is where to resume, when the socket had come somewhere. */
export function errorFrame(code: SocketErrorCode, message: string, lastSyncId?: bigint): Buffer {
  const place = lastSyncId === undefined ? {} : { lastSyncId: lastSyncId.toString() };
  return textFrame(JSON.stringify({ type: 'error', code, message, ...place }));
}
