import type { IncomingMessage } from 'node:http';
import { Fault, LIMITS, parseJson } from '@wts/contracts';
import { collectBody, joined, sizeOf } from './body.ts';
import { timesGiven, type BodyAdmission } from './request-context.ts';
import { hasBody } from './unread-body.ts';
import { SERVICE_LIMITS } from '../limits.ts';

/** The number of blanks is bounded, because two unbounded repetitions take quadratic time. */
const MEDIA_TYPE = /^application\/json[ \t]{0,8}/i;
const PARAMETER =
  /;[ \t]{0,8}(?:([\w!#$%&'*+.^`|~-]+)[ \t]{0,8}=[ \t]{0,8}("(?:[^"\\]|\\.)*"|[\w!#$%&'*+.^`|~-]*)[ \t]{0,8})?/y;
const UTF_8 = /^"?utf-?8"?$/i;

export interface LargeBodyAdmission {
  readonly bodies: BodyAdmission;
  readonly person: string;
  readonly signal: () => AbortSignal;
}

/**
 * Reads a JSON body. The type must be `application/json` in UTF-8, not compressed, because decompression makes a large body of a
 * small message. `parseJson` checks the text.
 * Keeps errors.415.media-type.
 */
export async function readJson(
  req: IncomingMessage,
  bytesMax: number = LIMITS.bodyBytes,
  admission?: LargeBodyAdmission,
): Promise<unknown> {
  if (!hasBody(req)) throw new Fault('malformed_json', { message: NO_BODY });
  const type = req.headers['content-type'];
  // Node keeps the first one; other software might keep the last.
  if (timesGiven(req.rawHeaders, 'content-type') > 1)
    throw new Fault('unsupported_media_type', { message: 'Content-Type must be given once.' });
  if (type !== 'application/json' && !(type !== undefined && isJson(type))) {
    throw new Fault('unsupported_media_type', {
      message: 'Send Content-Type: application/json, and the body in UTF-8.',
    });
  }
  const bytes = Math.min(Number(req.headers['content-length'] ?? bytesMax), bytesMax);
  if (admission === undefined || bytes <= SERVICE_LIMITS.bodyBytesLarge) return parse(await readParts(req, bytesMax));
  const { bodies, person, signal } = admission;
  using _held = bodies.hold(person, bytes);
  const body = await readParts(req, bytesMax);
  using _turn = await bodies.turn(person, sizeOf(body), signal());
  return parse(body);
}

/** RFC 8259 defines no parameter, so all are ignored, but a charset that is not UTF-8 names another text. */
function isJson(type: string): boolean {
  let at = MEDIA_TYPE.exec(type)?.[0].length ?? null;
  while (at !== null && at < type.length) {
    PARAMETER.lastIndex = at;
    const [whole = '', name = '', value = ''] = PARAMETER.exec(type) ?? [];
    if (whole === '' || (name.toLowerCase() === 'charset' && !UTF_8.test(value))) return false;
    at += whole.length;
  }
  return at !== null;
}

const NO_BODY = 'A JSON body is required.';

function parse(parts: readonly Uint8Array[]): unknown {
  if (parts.length === 0) throw new Fault('malformed_json', { message: NO_BODY });
  return parseJson(joined(parts, sharedMemory));
}

/** The bytes of the last body in several parts. New memory for each would cost more than the parsing, and twice in garbage collections. */
let shared = Buffer.alloc(0);

/** In use until the next call. */
function sharedMemory(bytes: number): Uint8Array {
  if (bytes > shared.length) shared = Buffer.allocUnsafeSlow(bytes);
  return shared;
}

/** Reads a body of any type, up to a size. Rejects as soon as it is larger. */
export async function readBytes(req: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  return joined(await readParts(req, bytesMax));
}

async function readParts(req: IncomingMessage, bytesMax: number): Promise<readonly Uint8Array[]> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const message = 'The body must not be compressed.';
    throw new Fault('unsupported_media_type', { message, headers: { 'Accept-Encoding': 'identity' } });
  }
  const length = req.headers['content-length'];
  return collectBody(req, { declared: length === undefined ? null : Number(length), bytesMax });
}
