import { createHmac } from 'node:crypto';

interface Signing {
  readonly eventId: string;
  readonly timestampSeconds: number;
  /** The bytes that are sent. */
  readonly body: Buffer;
  /** The keys in force, the current one first: what follows `whsec_` in a secret, decoded. */
  readonly secrets: readonly Buffer[];
}

/**
 * The value of `webhook-signature` as Standard Webhooks has it: HMAC-SHA256 of `<id>.<timestamp>.<body>`, one entry per
 * secret, so that a consumer verifies with the secret it knows while another one comes into force.
 *
 * Keeps webhooks.headers.signature, webhooks.signature.content, webhooks.signature.key and
 * webhooks.signature.standard.
 */
export function signatureOf({ eventId, timestampSeconds, body, secrets }: Signing): string {
  const prefix = `${eventId}.${timestampSeconds}.`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(prefix).update(body).digest('base64')}`)
    .join(' ');
}
