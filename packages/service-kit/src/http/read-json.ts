import type { IncomingMessage } from 'node:http';
import { Fault, LIMITS, parseJson } from '@wts/contracts';
import { collectBody } from './body.ts';
import { timesGiven, type BodyAdmission } from './request-context.ts';
import { hasBody } from './unread-body.ts';

/** Blanks stand in it a few at a time, because what may be repeated without a bound in two places costs the square. */
const jsonType =
  /^application\/json[ \t]{0,8}(?:;[ \t]{0,8}charset[ \t]{0,8}=[ \t]{0,8}"?utf-8"?[ \t]{0,8})?;?[ \t]{0,8}$/i;

/** Whose body it is, and how the service lets large ones in. */
export interface InTurn {
  readonly bodies: BodyAdmission;
  readonly person: string;
  readonly signal: () => AbortSignal;
}

/**
 * Reads a JSON body. The type must be `application/json` in UTF-8 and not compressed: inflating is how a small message
 * becomes a large one. What the text may hold is the rule of `parseJson`.
 * Keeps errors.415.media-type.
 */
export async function readJson(
  req: IncomingMessage,
  bytesMax: number = LIMITS.bodyBytes,
  inTurn?: InTurn,
): Promise<unknown> {
  if (!hasBody(req)) throw new Fault('malformed_json', { message: NO_BODY });
  const type = req.headers['content-type'];
  // Node keeps the first; whoever reads next might keep the last.
  if (timesGiven(req.rawHeaders, 'content-type') > 1) {
    throw new Fault('unsupported_media_type', { message: 'Content-Type must be given once.' });
  }
  if (type !== 'application/json' && !(type !== undefined && jsonType.test(type))) {
    throw new Fault('unsupported_media_type', { message: 'The body must be application/json in UTF-8.' });
  }
  const bytes = Math.min(Number(req.headers['content-length'] ?? bytesMax), bytesMax);
  if (inTurn === undefined || bytes <= LIMITS.bodyBytesLarge) return parse(await readBytes(req, bytesMax));
  const { bodies, person, signal } = inTurn;
  using _held = bodies.hold(person, bytes);
  const body = await readBytes(req, bytesMax);
  using _turn = await bodies.turn(person, body.length, signal());
  return parse(body);
}

const NO_BODY = 'A JSON body is required.';

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new Fault('malformed_json', { message: NO_BODY });
  return parseJson(bytes);
}

/** Reads a body of any type, up to a size. Rejects as soon as the size is known to be passed. */
export async function readBytes(req: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const message = 'The body must not be compressed.';
    throw new Fault('unsupported_media_type', { message, headers: { 'Accept-Encoding': 'identity' } });
  }
  const length = req.headers['content-length'];
  return collectBody(req, { declared: length === undefined ? null : Number(length), bytesMax });
}
