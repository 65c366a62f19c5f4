import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from '@wts/contracts';
import { fetchKeySet, Jwks } from './jwks.ts';

const key = (kid: string, more: object = {}): object => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid,
  ...more,
});
const first = key('first');
const second = key('second');
const text = (...keys: object[]): Buffer => Buffer.from(JSON.stringify({ keys }));
const MINUTE = 60_000;

/** An identity provider under the control of the test: what it publishes, and how often it was asked. */
class Provider {
  answer: () => Promise<Uint8Array> = async () => text(first);
  asked = 0;
  readonly jwks = new Jwks('https://idp.test/keys', async () => {
    this.asked += 1;
    return this.answer();
  });
  readonly down = async (): Promise<never> => {
    throw new Error('down');
  };
  async has(kid: string, atMs: number): Promise<boolean> {
    return (await this.jwks.find(kid, 'ES256', atMs)) !== undefined;
  }
}

const isUnavailable = (fault: unknown): boolean => fault instanceof Fault && fault.code === 'unavailable';

describe('the keys of an issuer', () => {
  it('are fetched once and used for ten minutes', async () => {
    const idp = new Provider();
    assert.ok(await idp.has('first', 0));
    assert.ok(await idp.has('first', 10 * MINUTE));
    assert.equal(idp.asked, 1);
    assert.ok(await idp.has('first', 10 * MINUTE + 1));
    assert.equal(idp.asked, 2);
  });

  it('are fetched again for an unknown key, so that rotation needs no restart', async () => {
    const idp = new Provider();
    await idp.has('first', 0);
    idp.answer = async () => text(first, second);
    assert.ok(await idp.has('second', MINUTE));
    assert.equal(idp.asked, 2);
  });

  it('are fetched at most once in 30 seconds for any number of unknown keys', async () => {
    const idp = new Provider();
    await idp.has('first', 0);
    for (let atMs = 0; atMs < 30_000; atMs += 100) assert.equal(await idp.has(`unknown-${atMs}`, atMs), false);
    assert.equal(idp.asked, 1);
    assert.equal(await idp.has('unknown', 30_000), false);
    assert.equal(idp.asked, 2);
  });

  it('are fetched again when the clock is set back, and then as rarely as before', async () => {
    const idp = new Provider();
    await idp.has('first', 60 * MINUTE);
    idp.answer = async () => text(second);
    assert.ok(await idp.has('second', 0));
    assert.equal(await idp.has('first', 0), false);
    for (let atMs = 0; atMs < 30_000; atMs += 1_000) await idp.has('unknown', atMs);
    assert.equal(idp.asked, 2);
  });

  it('are fetched once for concurrent tokens', async () => {
    const idp = new Provider();
    await Promise.all(Array.from({ length: 50 }, () => idp.has('first', 0)));
    assert.equal(idp.asked, 1);
  });

  it('that were withdrawn are refused once the set is ten minutes old', async () => {
    const idp = new Provider();
    await idp.has('first', 0);
    idp.answer = async () => text(second);
    assert.equal(await idp.has('first', 11 * MINUTE), false);
  });

  it('stay in use while the provider is down', async () => {
    const idp = new Provider();
    await idp.has('first', 0);
    idp.answer = idp.down;
    assert.ok(await idp.has('first', 60 * MINUTE));
    assert.equal(await idp.has('unknown', 61 * MINUTE), false);
  });

  it('are awaited once when the provider hangs, then used from the cache', async () => {
    const idp = new Provider();
    await idp.has('first', 0);
    const { promise: hang, reject: giveUp } = Promise.withResolvers<never>();
    idp.answer = () => hang;
    const waiting = idp.has('first', 20 * MINUTE);
    assert.equal(await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve, 'waits'))]), 'waits');
    giveUp(new Error('timeout'));
    assert.ok(await waiting);
    // The fetch never ends, and no caller waits for it.
    idp.answer = () => new Promise(() => {});
    for (const atMs of [30 * MINUTE, 40 * MINUTE]) assert.ok(await idp.has('first', atMs));
    assert.equal(idp.asked, 3);
  });

  it('are fetched again soon after the provider is back', async () => {
    const idp = new Provider();
    await idp.has('first', 0);
    idp.answer = idp.down;
    assert.ok(await idp.has('first', 20 * MINUTE));
    idp.answer = async () => text(second);
    // The caller after the outage does not wait for the fetch; the next caller uses its result.
    await idp.has('first', 21 * MINUTE);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await idp.has('first', 21 * MINUTE + 1), false);
    assert.ok(await idp.has('second', 21 * MINUTE + 1));
  });

  it('stay in use when the provider publishes an empty or invalid set', async () => {
    const idp = new Provider();
    await idp.has('first', 0);
    for (const [index, nonsense] of [
      '{"keys":[]}',
      '{}',
      'null',
      '[]',
      '<html>',
      '{"keys":7}',
      '{"keys":[null,7,{}]}',
    ].entries()) {
      idp.answer = async () => Buffer.from(nonsense);
      assert.ok(await idp.has('first', (index + 1) * 20 * MINUTE), nonsense);
    }
  });

  it('that were never fetched make tokens unavailable, not invalid, and are fetched again', async () => {
    const idp = new Provider();
    idp.answer = idp.down;
    await assert.rejects(idp.has('first', 0), isUnavailable);
    await assert.rejects(idp.has('first', 500), isUnavailable);
    assert.equal(idp.asked, 1);
    idp.answer = async () => text(first);
    assert.ok(await idp.has('first', 1_000));
  });

  it('are used only for their own algorithms and purposes', async () => {
    const idp = new Provider();
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
    const secret = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    idp.answer = async () =>
      text(
        key('for-encryption', { use: 'enc' }),
        key('for-signing', { use: 'sig', key_ops: ['verify'] }),
        key('other-ops', { key_ops: ['encrypt'] }),
        key('other-alg', { alg: 'ES384' }),
        key('nameless', { kid: undefined }),
        { ...rsa, kid: 'rsa' },
        { ...short, kid: 'short' },
        { ...secret, kid: 'private' },
        { kty: 'oct', kid: 'symmetric', k: 'c2VjcmV0' },
        { kty: 'EC', kid: 'broken', crv: 'P-256', x: 'AA', y: 'AA' },
      );
    assert.ok(await idp.has('for-signing', 0));
    for (const kid of ['for-encryption', 'other-ops', 'other-alg', 'rsa', 'private', 'symmetric', 'broken', ''])
      assert.equal(await idp.has(kid, 0), false, kid);
    assert.ok(await idp.jwks.find('rsa', 'RS256', 0));
    assert.ok(await idp.jwks.find('rsa', 'PS256', 0));
    assert.equal(await idp.jwks.find('short', 'RS256', 0), undefined);
  });
});

describe('fetching the keys of an issuer', () => {
  let server: Server;
  let listener: RequestListener;
  let address: string;
  before(async () => {
    server = createServer((req, res) => listener(req, res));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    address = `http://127.0.0.1:${port}/keys`;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const fails = (): Promise<void> => assert.rejects(new Jwks(address).find('first', 'ES256', 0), isUnavailable);

  it('is one GET', async () => {
    listener = (_req, res) => res.end(text(first));
    assert.ok(await new Jwks(address).find('first', 'ES256', 0));
  });

  it('follows no redirect', async () => {
    let elsewhere = 0;
    listener = (req, res) => {
      if (req.url === '/elsewhere') elsewhere += 1;
      res.writeHead(302, { location: '/elsewhere' }).end(text(first));
    };
    await fails();
    assert.equal(elsewhere, 0);
  });

  it('accepts only status 200', async () => {
    listener = (_req, res) => res.writeHead(500).end(text(first));
    await fails();
  });

  it('stops reading after 64 KB', async () => {
    const padded = { keys: [first], filler: 'x'.repeat(64 * 1024) };
    listener = (_req, res) => res.end(JSON.stringify(padded));
    await fails();
  });

  it('ends at its deadline, also when the reply is slow', async () => {
    listener = (_req, res) => {
      const drip = setInterval(() => res.write(' '), 10);
      res.on('close', () => clearInterval(drip));
    };
    await assert.rejects(fetchKeySet(address, 100), { name: 'TimeoutError' });
  });
});
