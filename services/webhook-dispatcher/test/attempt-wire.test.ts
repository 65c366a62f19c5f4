import { receiver, type Received, type Receiver } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { secretText } from '../src/domain/secrets.ts';
import { SECRET, sharedAuthority, testSender } from './sender.ts';

const openConsumer = async (): Promise<Receiver> => receiver({ identity: await (await sharedAuthority()).issue() });
const openSender = async () => testSender({ authority: await sharedAuthority() });

const BODY = JSON.stringify({ id: '1', big: '9007199254740993', text: 'ünï 😀 \u2028 "\\', nested: { b: 1, a: [] } });

function at(all: readonly Received[], index: number): Received {
  const found = all.at(index);
  assert.ok(found);
  return found;
}

/** Throws when one of the libraries refuses. */
function verify(secret: Buffer, { body, headers }: Received): void {
  const text = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  new StandardWebhook(secretText(secret)).verify(body, text);
  new SvixWebhook(secretText(secret)).verify(body, text);
}

describe('a delivery on the wire', () => {
  it('is verified by the libraries of consumers, with keys of 24 and 32 bytes [webhooks.signature.standard, webhooks.signature.content, webhooks.signature.key]', async () => {
    await using consumer = await openConsumer();
    await using sender = await openSender();
    for (const secret of [randomBytes(24), randomBytes(32)]) {
      await sender.send(consumer.url, { body: BODY, secrets: [secret] });
      const received = at(consumer.received, -1);
      verify(secret, received);
      assert.equal(received.body, BODY);
      assert.throws(() => verify(randomBytes(32), received));
      assert.throws(() => verify(secret, { ...received, body: `${received.body} ` }));
    }
  });

  it('has a signature for each secret that is in force [webhooks.headers.signature]', async () => {
    await using consumer = await openConsumer();
    await using sender = await openSender();
    const secrets = [randomBytes(32), randomBytes(32), randomBytes(32)];
    await sender.send(consumer.url, { body: BODY, secrets });
    const received = at(consumer.received, 0);
    assert.match(String(received.headers['webhook-signature']), /^(v1,[A-Za-z0-9+/]{43}=)( v1,[A-Za-z0-9+/]{43}=){2}$/);
    for (const secret of secrets) verify(secret, received);
  });

  it('carries the id of the event and the second of the attempt [webhooks.headers.id, webhooks.headers.timestamp]', async () => {
    await using consumer = await openConsumer();
    await using sender = await openSender();
    const eventId = randomUUID();
    const timestamps: number[] = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      const before = Math.floor(Date.now() / 1_000);
      await sender.send(consumer.url, { eventId });
      const { headers } = at(consumer.received, attempt);
      const timestamp = Number(headers['webhook-timestamp']);
      assert.ok(timestamp >= before && timestamp <= Date.now() / 1_000);
      assert.equal(headers['webhook-id'], eventId);
      timestamps.push(timestamp);
      if (attempt === 0) await new Promise((resolve) => setTimeout(resolve, 1_001));
    }
    assert.ok((timestamps[1] ?? 0) > (timestamps[0] ?? 0));
  });

  it('is one POST with exactly these headers, and no credential [webhooks.signature.no-bearer]', async () => {
    await using consumer = await openConsumer();
    await using sender = await openSender();
    await sender.send(`${consumer.url}/in/box?a=1&b=%20#part`, { body: BODY });
    assert.equal(consumer.received.length, 1);
    const { method, path, headers, rawHeaders } = at(consumer.received, 0);
    assert.deepEqual([method, path], ['POST', '/in/box?a=1&b=%20']);
    const names = rawHeaders.filter((_, index) => index % 2 === 0);
    assert.deepEqual(names.toSorted(), [
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ]);
    assert.equal(headers['user-agent'], 'Workspace-Task-Service-Webhooks/1');
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['content-length'], String(Buffer.byteLength(BODY)));
    assert.equal(headers.host, new URL(consumer.url).host);
  });
});

describe('the answer of a consumer', () => {
  it('is a success for 2xx only [webhooks.attempt.success]', async () => {
    await using consumer = await openConsumer();
    await using sender = await openSender();
    for (const status of [200, 201, 202, 204, 226, 299, 300, 304, 400, 404, 410, 429, 500, 503, 599]) {
      consumer.answer({ status });
      const { error, statusCode } = await sender.send(consumer.url);
      assert.deepEqual([error, statusCode], [status < 300 ? null : 'http_status', status]);
    }
  });

  it('is shown as valid text of 1 KiB at most, on success too', async () => {
    await using consumer = await openConsumer();
    await using sender = await openSender();
    for (const [status, sent, shown] of [
      [200, 'ok', 'ok'],
      [500, '', null],
      [500, 'a\0b', 'a\ufffdb'],
      [500, '\u001b[31mred', '\ufffd[31mred'],
      [500, 'x'.repeat(5_000), 'x'.repeat(1_024)],
      [500, '😀'.repeat(300), '😀'.repeat(256)],
      [500, `x${'😀'.repeat(300)}`, `x${'😀'.repeat(255)}`],
    ] as const) {
      consumer.answer({ status, body: sent });
      assert.equal((await sender.send(consumer.url)).snippet, shown);
    }
  });

  it('may ask for a later attempt, in seconds or as a date', async () => {
    await using consumer = await openConsumer();
    await using sender = await openSender();
    for (const [value, ms] of [
      ['3600', 3_600_000],
      ['-1', null],
      ['99999999999', 86_400_000],
      ['Wed, 21 Oct 2015 07:28:00 GMT', null],
      ['soon', null],
    ] as const) {
      for (const status of [429, 503]) {
        consumer.answer({ status, headers: { 'retry-after': value } });
        assert.equal((await sender.send(consumer.url)).retryAfterMs, ms);
      }
      consumer.answer({ status: 200, headers: { 'retry-after': value } });
      assert.equal((await sender.send(consumer.url)).retryAfterMs, null);
    }
  });

  it('is no way to what the service keeps to itself [never.secret-in-clear]', async () => {
    await using consumer = await openConsumer();
    await using sender = await openSender();
    await sender.send(consumer.url);
    const text = JSON.stringify(consumer.received);
    for (const form of ['base64', 'hex', 'latin1'] as const) assert.ok(!text.includes(SECRET.toString(form)));
  });
});
