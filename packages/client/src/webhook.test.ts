import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { verifyWebhook, WebhookSignatureError } from './webhook.ts';

const key = randomBytes(32);
const secret = `whsec_${key.toString('base64')}`;
const id = randomUUID();
const body = JSON.stringify({ id, type: 'task.created', data: { object: { title: 'Ärger' }, changes: [] } });
const nowMs = Date.parse('2026-11-21T09:00:00.000Z');

function sign(at: number = nowMs / 1000, by: Buffer = key): string {
  return `v1,${createHmac('sha256', by).update(`${id}.${at}.${body}`).digest('base64')}`;
}

function headers(more: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  return { 'webhook-id': id, 'webhook-timestamp': String(nowMs / 1000), 'webhook-signature': sign(), ...more };
}

describe('verifyWebhook', () => {
  it('returns the event of a delivery that was signed with the secret, also beside signatures of other secrets', async () => {
    assert.equal((await verifyWebhook(secret, headers(), body, nowMs)).id, id);
    const several = headers({ 'webhook-signature': `v1a,AAAA ${sign(nowMs / 1000, randomBytes(32))} ${sign()}` });
    assert.equal((await verifyWebhook(secret, new Headers(several as Record<string, string>), body, nowMs)).id, id);
  });

  const refused: Record<string, [headers: Record<string, string | undefined>, body?: string]> = {
    'without a signature': [headers({ 'webhook-signature': undefined })],
    'signed with another secret': [headers({ 'webhook-signature': sign(nowMs / 1000, randomBytes(32)) })],
    'with a changed body': [headers(), body.replace('created', 'deleted')],
    'with a changed id': [headers({ 'webhook-id': randomUUID() })],
    'with a time that was not signed': [headers({ 'webhook-timestamp': String(nowMs / 1000 + 1) })],
    'signed more than five minutes ago': [
      headers({ 'webhook-timestamp': String(nowMs / 1000 - 301), 'webhook-signature': sign(nowMs / 1000 - 301) }),
    ],
    'with a time that is no number': [headers({ 'webhook-timestamp': '1e9', 'webhook-signature': sign(1e9) })],
    'with more signatures than a delivery has, of which it reads a few': [
      headers({ 'webhook-signature': `${'v1,AAAA '.repeat(10)}${sign()}` }),
    ],
    'with a signature that is not base64': [headers({ 'webhook-signature': 'v1,%%%' })],
  };
  for (const [name, [given, text = body]] of Object.entries(refused)) {
    it(`refuses a request ${name}`, () =>
      assert.rejects(verifyWebhook(secret, given, text, nowMs), WebhookSignatureError));
  }

  it('reads names of headers in any case, from any kind of headers, and a body of bytes', async () => {
    const capitals = { 'Webhook-Id': id, 'WEBHOOK-TIMESTAMP': [String(nowMs / 1000)], 'Webhook-Signature': sign() };
    const foreign = { get: (name: string) => headers()[name] ?? null };
    const bytes = Buffer.from(`--${body}--`).subarray(2, -2);
    for (const given of [capitals, foreign, headers()])
      for (const raw of [body, Buffer.from(body), bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer])
        assert.equal((await verifyWebhook(secret, given, raw, nowMs)).id, id);
  });

  const faults: Record<string, [message: RegExp, given: unknown[]]> = {
    'a parsed body': [/^Pass the raw body of the request.*express\.raw/, [secret, headers(), JSON.parse(body)]],
    'no body': [/^Pass the raw body of the request/, [secret, headers(), undefined]],
    'no secret': [/^Pass the secret of the endpoint/, [undefined, headers(), body]],
    'a secret that is no base64': [/^Pass the secret of the endpoint/, ['whsec_%', headers(), body]],
    'no headers': [/^Pass the headers of the request/, [secret, undefined, body]],
  };
  for (const [name, [message, given]] of Object.entries(faults)) {
    it(`tells the caller what to pass when given ${name}`, () =>
      assert.rejects(verifyWebhook(...(given as Parameters<typeof verifyWebhook>)), { name: 'TypeError', message }));
  }
});
