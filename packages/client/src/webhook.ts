import type { WebhookEvent } from '@wts/contracts';

/** The headers of a request, as Node or a browser's `Headers` gives them. */
type RequestHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request that is no delivery of this endpoint, or too old to be taken for one. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
}

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Verifies a delivery by the Standard Webhooks rules and returns its event. `body` is the raw body of the request, because
 * a body that was parsed and serialized again has other bytes. Throws `WebhookSignatureError`.
 */
export async function verifyWebhook(
  secret: string,
  headers: RequestHeaders,
  body: string,
  nowMs: number = Date.now(),
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signatures) throw new WebhookSignatureError('The request has no signature.');
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN;
  if (!(Math.abs(nowMs / 1000 - seconds) <= TOLERANCE_SECONDS))
    throw new WebhookSignatureError('The timestamp is more than five minutes away from this clock.');
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const signature of signatures.split(' ')) {
    const [version, encoded = ''] = signature.split(',');
    // The comparison of subtle.verify takes the same time for every signature.
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, decode(encoded), content)))
      return JSON.parse(body) as WebhookEvent;
  }
  throw new WebhookSignatureError('No signature fits the secret of this endpoint.');
}

function headerOf(headers: RequestHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

function bytesOf(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = decode(secret.replace(/^whsec_/, ''));
  if (bytes.length === 0) throw new WebhookSignatureError('The secret is not valid: it begins with whsec_.');
  return bytes;
}

/** Empty when the text is not base64. */
function decode(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
