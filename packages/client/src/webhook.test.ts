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
    'with a signature that is not base64': [headers({ 'webhook-signature': 'v1,%%%' })],
  };
  for (const [name, [given, text = body]] of Object.entries(refused)) {
    it(`refuses a request ${name}`, () =>
      assert.rejects(verifyWebhook(secret, given, text, nowMs), WebhookSignatureError));
  }
});
