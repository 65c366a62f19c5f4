import type { IncomingMessage } from 'node:http';
import { Fault, isStorableText, LIMITS, type Form } from '@wts/contracts';
import { readBytes } from './read-json.ts';
import { timesGiven } from './request-context.ts';

/** Blanks are bounded, because two unbounded repetitions take quadratic time. */
const formType =
  /^application\/x-www-form-urlencoded[ \t]{0,8}(?:;[ \t]{0,8}charset[ \t]{0,8}=[ \t]{0,8}"?utf-8"?[ \t]{0,8})?;?$/i;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a body of `application/x-www-form-urlencoded` in UTF-8, not compressed. */
export async function readForm(req: IncomingMessage, bytesMax: number = LIMITS.formBytes): Promise<Form> {
  const type = req.headers['content-type'] ?? '';
  if (timesGiven(req.rawHeaders, 'content-type') > 1 || !formType.test(type))
    throw new Fault('unsupported_media_type', { message: 'The body must be application/x-www-form-urlencoded.' });
  const bytes = await readBytes(req, bytesMax);
  try {
    return parseForm(utf8.decode(bytes));
  } catch (cause) {
    throw cause instanceof Fault ? cause : malformed(cause);
  }
}

/** The parameters of a form, or of a query without its `?`. Repeated ones are named and not refused. */
export function parseForm(text: string): Form {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  const given = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    if (given.has(name)) repeated.add(name);
    else if (value !== '') values.set(name, value);
    given.add(name);
  }
  return { values, repeated: [...repeated] };
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw malformed(cause);
  }
  if (!isStorableText(decoded)) throw malformed();
  return decoded;
}

function malformed(cause?: unknown): Fault {
  return new Fault('malformed_request', { message: 'The parameters are not valid percent-encoded UTF-8.', cause });
}
