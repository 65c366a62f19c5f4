import type { WebhookEvent } from './records.ts';

/** The headers of a request, as Node, a browser's `Headers` or a gateway gives them. The case of names is ignored. */
export type RequestHeaders = { get(name: string): string | null } | HeaderRecord;
type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The bytes of a request as they came, or their text. */
export type RawBody = string | ArrayBuffer | ArrayBufferView;

/** A request that is no delivery of this endpoint, or too old to be taken for one. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
  /** The answer that Express, Fastify and others give when a handler throws this. */
  readonly statusCode = 400;
}

const TOLERANCE_SECONDS = 5 * 60;
/** An endpoint has at most five secrets in force. Each signature costs a hash of the body, also in a request of a stranger. */
const SIGNATURES_MAX = 10;

/**
 * Verifies a delivery by the Standard Webhooks rules and returns its event. `body` is the raw body of the request, because
 * a body that was parsed and serialized again has other bytes. Throws `WebhookSignatureError` for a request that is no
 * delivery, and `TypeError` where the caller is at fault.
 */
export async function verifyWebhook(
  secret: string,
  headers: RequestHeaders,
  body: RawBody,
  nowMs: number = Date.now(),
): Promise<WebhookEvent> {
  const key = await keyOf(secret);
  const bytes = bytesOf(body);
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signatures) throw new WebhookSignatureError('The request has no signature.');
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN;
  if (!(Math.abs(nowMs / 1000 - seconds) <= TOLERANCE_SECONDS))
    throw new WebhookSignatureError('The timestamp is more than five minutes away from this clock.');
  const signed = await new Blob([`${id}.${timestamp}.`, bytes]).arrayBuffer();
  for (const signature of signatures.split(' ', SIGNATURES_MAX)) {
    const [version, encoded = ''] = signature.split(',');
    // The comparison of subtle.verify takes the same time for every signature.
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, decode(encoded), signed)))
      return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  }
  throw new WebhookSignatureError('No signature fits the secret of this endpoint.');
}

function headerOf(headers: RequestHeaders, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) throw new TypeError('Pass the headers of the request.');
  // Not `instanceof`: frameworks bring a `Headers` of their own.
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const given = Object.entries(headers as HeaderRecord).find(([one]) => one.toLowerCase() === name)?.[1];
  return typeof given === 'string' ? given : given?.[0];
}

function bytesOf(body: RawBody): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  throw new TypeError(
    'Pass the raw body of the request, as text or bytes, not a parsed one: the signature is of its exact bytes. In Express, use express.raw({ type: "application/json" }) on this route.',
  );
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = typeof secret === 'string' ? decode(secret.replace(/^whsec_/, '')) : new Uint8Array();
  if (bytes.length === 0)
    throw new TypeError('Pass the secret of the endpoint: a text that begins with whsec_ and goes on in base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Empty when the text is not base64. */
function decode(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
