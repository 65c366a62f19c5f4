import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import type { DnsAnswer } from './dns-server.ts';
import { namespaceCommand, openNetwork, type OpenNetwork, type Seen } from './network.ts';

const namespace = namespaceCommand();
const where =
  namespace === null
    ? 'on loopback with one address allowed: no network namespace can be made here'
    : 'in a network namespace, nothing allowed';

describe(`requests go to public addresses only (${where}) [webhooks.attempt.address-guard] [never.non-public-address]`, () => {
  let network: OpenNetwork;
  before(async () => (network = await openNetwork(namespace)));
  after(() => network[Symbol.asyncDispose]());

  const hostOf = (address: string): string => (isIPv6(address) ? `[${address}]` : address);
  const urlOf = (host: string, path = '/'): string => `https://${host}:${network.port}${path}`;
  const errorsOf = ({ results }: Seen) => results.map(({ error }) => error);
  const addresses = (...list: string[]): DnsAnswer => ({ addresses: list, ttl: 0 });

  /** Neither the request nor a connection got anywhere. */
  const assertBlocked = (seen: Seen, what: string): void => {
    assert.deepEqual([seen.trips, seen.requestCount], [[], 0], what);
    assert.ok(
      errorsOf(seen).every((error) => error === 'blocked_address'),
      `${what}: ${errorsOf(seen).join()}`,
    );
    assert.equal(seen.blocked.length, seen.results.length, what);
  };

  it('reach a public consumer, by name and by address', async () => {
    const { publicAddress, otherPublicAddress } = network;
    const seen = await network.play({
      names: { 'consumer.test': [addresses(publicAddress, otherPublicAddress)] },
      urls: ['consumer.test', publicAddress, otherPublicAddress].map((host) => urlOf(hostOf(host))),
    });
    assert.deepEqual([errorsOf(seen), seen.requestCount, seen.trips], [[null, null, null], 3, []]);
  });

  it('never reach a private address that a public name has', async () => {
    for (const address of network.privateAddresses) {
      const names = { 'consumer.test': [addresses(address)] };
      assertBlocked(await network.play({ names, urls: [urlOf('consumer.test')] }), address);
    }
  });

  it('never reach any address of a name that has public and private ones', async () => {
    const { publicAddress, otherPublicAddress } = network;
    for (const [at, address] of network.privateAddresses.entries()) {
      const mixed = [publicAddress, otherPublicAddress].toSpliced(at % 3, 0, address);
      const names = { 'consumer.test': [addresses(...mixed)] };
      assertBlocked(await network.play({ names, urls: [urlOf('consumer.test')] }), mixed.join());
    }
  });

  it('never reach a private address behind an alias', async () => {
    const [address = ''] = network.privateAddresses;
    const names = { 'consumer.test': [{ addresses: [address], alias: 'database.internal' }] };
    assertBlocked(await network.play({ names, urls: [urlOf('consumer.test')] }), address);
  });

  it('go to the address that was judged, whatever the name resolves to next', async () => {
    const { publicAddress, privateAddresses } = network;
    const [address = ''] = privateAddresses;
    const seen = await network.play({
      names: { 'consumer.test': [addresses(publicAddress), addresses(address)] },
      urls: [urlOf('consumer.test', '/close'), urlOf('consumer.test'), urlOf('consumer.test')],
    });
    assert.deepEqual(errorsOf(seen), [null, 'blocked_address', 'blocked_address']);
    assert.deepEqual([seen.requestCount, seen.trips], [1, []]);
    // One question per family and connection.
    assert.equal(seen.queryCount, 6);
  });

  it('stay with the address of a connection that is kept, and judge the name again for the next one', async () => {
    const { publicAddress, privateAddresses } = network;
    const [address = ''] = privateAddresses;
    const seen = await network.play({
      names: { 'consumer.test': [addresses(publicAddress), addresses(address)] },
      urls: ['/', '/', '/close', '/'].map((path) => urlOf('consumer.test', path)),
    });
    assert.deepEqual(errorsOf(seen), [null, null, null, 'blocked_address']);
    assert.deepEqual(seen.connections, ['new', 'reused', 'reused', 'new']);
    assert.deepEqual([seen.requestCount, seen.trips], [3, []]);
  });

  it('never reach a private address that the URL names, in any form', async () => {
    const literals = [
      ...network.privateAddresses.map(hostOf),
      '127.0.0.2',
      '0.0.0.0',
      '127.2',
      '0x7f000002',
      '2130706434',
      '[::ffff:127.0.0.2]',
      '[::ffff:7f00:2]',
      '[::127.0.0.2]',
      '[::]',
      'localhost',
    ];
    for (const literal of literals) {
      const seen = await network.play({ names: {}, urls: [urlOf(literal)] });
      assert.deepEqual([seen.trips, seen.requestCount], [[], 0], literal);
      // With an address allowed, a local name is judged by what it resolves to, which is nothing.
      const expected =
        literal === 'localhost' && namespace === null ? ['dns_error', 'blocked_address'] : ['blocked_address'];
      assert.ok(expected.includes(String(errorsOf(seen)[0])), `${literal}: ${errorsOf(seen).join()}`);
    }
  });

  it('fail when a name does not resolve', async () => {
    const seen = await network.play({
      names: { 'a.test': ['nxdomain'], 'b.test': ['servfail'], 'c.test': [addresses()] },
      urls: ['a.test', 'b.test', 'c.test'].map((name) => urlOf(name)),
    });
    assert.deepEqual(errorsOf(seen), Array(3).fill('dns_error'));
    assert.deepEqual([seen.requestCount, seen.trips], [0, []]);
  });

  it('never reach a port of another protocol', async () => {
    const { publicAddress } = network;
    const ports = [0, 22, 25, 80, 1_023].map((port) => `https://${publicAddress}:${port}/`);
    assertBlocked(
      await network.play({ names: {}, urls: [...ports, `http://${publicAddress}:${network.port}/`] }),
      'ports',
    );
  });

  it('fail without a word about the address or about DNS', async () => {
    const [address = ''] = network.privateAddresses;
    const names = { 'a.consumer.test': [addresses(address)], 'b.consumer.test': ['servfail' as const] };
    const { results } = await network.play({ names, urls: [urlOf('a.consumer.test'), urlOf('b.consumer.test')] });
    assert.deepEqual(
      results.map(({ error, snippet, statusCode }) => ({ error, snippet, statusCode })),
      ['blocked_address', 'dns_error'].map((error) => ({ error, snippet: null, statusCode: null })),
    );
  });

  it('never reach where a redirect leads', async () => {
    const { publicAddress, privateAddresses } = network;
    const urls = privateAddresses.map((address) =>
      urlOf(hostOf(publicAddress), `/redirect?to=${encodeURIComponent(urlOf(hostOf(address)))}`),
    );
    const seen = await network.play({ names: {}, urls });
    assert.ok(seen.results.every(({ statusCode }) => statusCode === 307));
    assert.deepEqual([seen.requestCount, seen.trips], [urls.length, []]);
  });

  it('go through no proxy that the environment names', async () => {
    const { publicAddress } = network;
    const seen = await network.play({ names: {}, urls: [urlOf(hostOf(publicAddress))] });
    assert.deepEqual([errorsOf(seen), seen.requestCount, seen.trips], [[null], 1, []]);
  });
});
