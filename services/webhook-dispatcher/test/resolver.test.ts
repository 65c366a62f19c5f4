import { EgressFailure, openResolver, refuseDnsServer } from '@wts/service-kit/egress';
import assert from 'node:assert/strict';
import { dnsServer, type DnsAnswer, type DnsServer } from './dns-server.ts';

interface TestResolver {
  readonly dns: DnsServer;
  readonly resolve: (name: string) => Promise<readonly string[]>;
  readonly outcomes: string[];
  readonly advance: (ms: number) => void;
}

function resolverOver(dns: DnsServer): TestResolver {
  let nowMs = 0;
  const outcomes: string[] = [];
  const metrics = { nameResolved: (outcome: string) => void outcomes.push(outcome) };
  const resolver = openResolver({ servers: [dns.address], metrics, now: () => nowMs });
  return {
    dns,
    resolve: (name) => resolver.resolve(name),
    outcomes,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

const isDnsError = (error: unknown): boolean => error instanceof EgressFailure && error.reason === 'dns_error';

describe('names of consumers', () => {
  it('give every address of both families, IPv4 first', async () => {
    await using dns = await dnsServer();
    dns.set('a.test', { addresses: ['2a00::1', '1.2.3.4', '5.6.7.8'] });
    dns.set('b.test', { addresses: ['2a00::2'] });
    const { resolve } = resolverOver(dns);
    assert.deepEqual(await resolve('a.test'), ['1.2.3.4', '5.6.7.8', '2a00::1']);
    assert.deepEqual(await resolve('b.test'), ['2a00::2']);
  });

  it('follow an alias', async () => {
    await using dns = await dnsServer();
    dns.set('a.test', { addresses: ['1.2.3.4'], alias: 'inside.test' });
    assert.deepEqual(await resolverOver(dns).resolve('a.test'), ['1.2.3.4']);
  });

  it('are asked for once while an answer lasts, and a minute at most', async () => {
    for (const [ttl, lastsMs] of [
      [10, 10_000],
      [3_600, 60_000],
    ] as const) {
      await using dns = await dnsServer();
      dns.set('a.test', { addresses: ['1.2.3.4'], ttl }, { addresses: ['5.6.7.8'], ttl });
      const { resolve, outcomes, advance } = resolverOver(dns);
      await Promise.all([resolve('a.test'), resolve('a.test'), resolve('a.test')]);
      advance(lastsMs - 1);
      assert.deepEqual(await resolve('a.test'), ['1.2.3.4']);
      advance(2);
      assert.deepEqual(await resolve('a.test'), ['5.6.7.8']);
      assert.deepEqual(outcomes, ['found', 'cached', 'found']);
      assert.equal(dns.queries.length, 4);
    }
  });

  it('are asked for each time when an answer lasts no time', async () => {
    await using dns = await dnsServer();
    dns.set('a.test', { addresses: ['1.2.3.4'], ttl: 0 }, { addresses: ['5.6.7.8'], ttl: 0 });
    const { resolve } = resolverOver(dns);
    assert.deepEqual([await resolve('a.test'), await resolve('a.test')], [['1.2.3.4'], ['5.6.7.8']]);
  });

  const faults: Readonly<Record<string, readonly [DnsAnswer, number]>> = {
    'does not exist': ['nxdomain', 30_000],
    'has no address': [{ addresses: [] }, 30_000],
    'cannot be answered for': ['servfail', 5_000],
  };
  for (const [what, [answer, lastsMs]] of Object.entries(faults)) {
    it(`fail when a name ${what}, and are asked for again after ${lastsMs / 1_000} s`, async () => {
      await using dns = await dnsServer();
      dns.set('a.test', answer);
      const { resolve, advance } = resolverOver(dns);
      await assert.rejects(resolve('a.test'), isDnsError);
      const asked = dns.queries.length;
      dns.set('a.test', { addresses: ['1.2.3.4'] });
      advance(lastsMs - 1);
      await assert.rejects(resolve('a.test'), isDnsError);
      assert.equal(dns.queries.length, asked);
      advance(2);
      assert.deepEqual(await resolve('a.test'), ['1.2.3.4']);
    });
  }

  it('fail when the server is silent, while others resolve', async () => {
    await using dns = await dnsServer();
    dns.set('a.test', { addresses: ['1.2.3.4'] });
    for (let index = 0; index < 40; index++) dns.set(`${index}.test`, 'silent');
    const { resolve } = resolverOver(dns);
    const hanging = Promise.allSettled(Array.from({ length: 40 }, (_, index) => resolve(`${index}.test`)));
    assert.deepEqual(await Promise.race([resolve('a.test'), hanging]), ['1.2.3.4']);
    const ended = await hanging;
    assert.ok(ended.every((outcome) => outcome.status === 'rejected' && isDnsError(outcome.reason)));
  });

  it('resolve, however many come at once', async () => {
    await using dns = await dnsServer();
    const names = Array.from({ length: 600 }, (_, index) => `${index}.test`);
    for (const name of names) dns.set(name, { addresses: ['1.2.3.4'] });
    const { resolve } = resolverOver(dns);
    const found = await Promise.all(names.map((name) => resolve(name)));
    assert.ok(found.every((addresses) => addresses.join() === '1.2.3.4'));
  });

  it('resolve when the server is slow for one of them, after many quick answers', async () => {
    await using dns = await dnsServer();
    const { resolve } = resolverOver(dns);
    for (let index = 0; index < 30; index++) {
      dns.set(`${index}.test`, { addresses: ['1.2.3.4'] });
      await resolve(`${index}.test`);
    }
    dns.set('slow.test', 'silent', 'silent', { addresses: ['5.6.7.8'] });
    assert.deepEqual(await resolve('slow.test'), ['5.6.7.8']);
  });

  it('do not wait long for one family when the other has answered', async () => {
    await using dns = await dnsServer();
    dns.set('a.test', { addresses: ['1.2.3.4'], silentFor: 'AAAA' });
    dns.set('b.test', { addresses: ['2a00::1'], silentFor: 'A' });
    dns.set('c.test', 'silent');
    const { resolve } = resolverOver(dns);
    const silent = resolve('c.test');
    const found = Promise.all([resolve('a.test'), resolve('b.test')]);
    assert.deepEqual(await Promise.race([found, silent]), [['1.2.3.4'], ['2a00::1']]);
    await assert.rejects(silent, isDnsError);
  });

  it('are read whole when they have 300 addresses', async () => {
    await using dns = await dnsServer();
    const addresses = Array.from({ length: 300 }, (_, index) => `11.0.${index >> 8}.${index & 255}`);
    dns.set('a.test', { addresses });
    const found = await resolverOver(dns).resolve('a.test');
    assert.deepEqual(found.toSorted(), addresses.toSorted());
  });

  it('of any form get an answer or a failure', async () => {
    await using dns = await dnsServer();
    const { resolve } = resolverOver(dns);
    for (const name of ['', '.', 'a..b', `${'a'.repeat(64)}.test`, `${'a.'.repeat(130)}test`, 'xn--a.test', 'ü.test'])
      await assert.rejects(resolve(name), isDnsError, name);
  });
});

describe('the address of a DNS server', () => {
  it('is one address, with or without a port', () => {
    for (const text of ['127.0.0.1', '127.0.0.1:5353', '::1', '[::1]:5353']) assert.equal(refuseDnsServer(text), null);
    for (const text of ['', 'dns.example', '127.0.0.1:', '300.1.1.1', '127.0.0.1:99999', 'x'])
      assert.match(refuseDnsServer(text) ?? text, /no address of a DNS server/);
  });
});
