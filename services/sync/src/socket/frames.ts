import { Fault, parseJson, parseSyncId, syncFrames, type SocketErrorCode, type SubscribeFrame } from '@wts/contracts';
import { compile } from '@wts/service-kit/routes';
import type { ActionSpelling } from '../deltas/action-spelling.ts';
import { listText } from '../deltas/group-list.ts';
import { frameHeader, textFrame } from '../hub/packet.ts';

/** A subscribe frame, parsed. */
export interface Subscribe {
  readonly after: bigint;
  readonly token: string | undefined;
  /** Groups to narrow to; empty for all the caller may see. */
  readonly groups: ReadonlySet<string>;
  readonly spelling: ActionSpelling;
}

export type ClientFrame =
  | { readonly kind: 'subscribe'; readonly subscribe: Subscribe }
  /** A frame of another feature or a later version. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'invalid'; readonly message: string };

const checkSubscribe = compile(syncFrames.subscribeFrame.schema, 'frame');

/**
 * Parses one text frame, as strictly as a body. Keeps sync.socket.subscribe.
 * Keeps sync.socket.bad-frame.
 */
export function parseClientFrame(bytes: Uint8Array, urlSpelling: ActionSpelling | undefined): ClientFrame {
  try {
    const frame = parseJson(bytes);
    if (isOfAnotherType(frame)) return { kind: 'ignored' };
    checkSubscribe(frame);
    const { afterSyncId, token, groups, actions } = frame as SubscribeFrame;
    const after = parseSyncId(afterSyncId);
    if (after === null) return { kind: 'invalid', message: 'frame/afterSyncId is larger than any position in the log' };
    // Only clients that read letters name their groups.
    const spelling = actions ?? urlSpelling ?? (groups === undefined ? 'words' : 'letters');
    return { kind: 'subscribe', subscribe: { after, token, groups: new Set(groups), spelling } };
  } catch (error) {
    return { kind: 'invalid', message: error instanceof Fault ? error.message : 'The frame cannot be read' };
  }
}

function isOfAnotherType(frame: unknown): boolean {
  const type = typeof frame === 'object' && frame !== null && 'type' in frame ? frame.type : undefined;
  return typeof type === 'string' && type !== syncFrames.subscribeFrame.type;
}

export function isActionSpelling(text: unknown): text is ActionSpelling {
  return text === 'words' || text === 'letters';
}

/** The rest of the frame, cached by list, because a thousand sockets of one person list the same groups. */
const listTexts = new WeakMap<readonly string[], Buffer>();

/** In two parts; sockets with the same groups share the second. Keeps sync.socket.subscribed. */
export function subscribedFrame(after: bigint, groups: readonly string[]): [Buffer, Buffer] {
  const rest = listTexts.getOrInsertComputed(groups, () => Buffer.from(`${listText(groups)}}`));
  const begin = Buffer.from(`{"type":"subscribed","afterSyncId":"${after}","groups":`);
  return [Buffer.concat([frameHeader(begin.length + rest.length), begin]), rest];
}

/** `lastSyncId` is where the client may resume, when it had subscribed. */
export function errorFrame(code: SocketErrorCode, message: string, lastSyncId?: bigint): Buffer {
  const position = lastSyncId === undefined ? {} : { lastSyncId: lastSyncId.toString() };
  return textFrame(JSON.stringify({ type: 'error', code, message, ...position }));
}
