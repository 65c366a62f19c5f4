import assert from 'node:assert/strict';
import fc from 'fast-check';
import { addressReader } from './client-address.ts';

describe("the client's address", () => {
  it('is the peer when no proxy is configured, with any headers', () => {
    const addressOf = addressReader([]);
    assert.equal(addressOf('203.0.113.9', ['198.51.100.1']), '203.0.113.9');
    assert.equal(addressOf('::ffff:203.0.113.9', []), '203.0.113.9');
    assert.equal(addressOf(undefined, []), 'unknown');
  });

  it('is the peer when the peer is not a configured proxy', () => {
    const senders: string[] = [];
    const addressOf = addressReader(['10.0.0.0/8'], (sender) => senders.push(sender));
    assert.equal(addressOf('10.0.0.1', ['198.51.100.1']), '198.51.100.1');
    assert.equal(addressOf('203.0.113.9', []), '203.0.113.9');
    assert.deepEqual(senders, []);
    for (const peer of ['203.0.113.9', '203.0.113.8']) assert.equal(addressOf(peer, ['198.51.100.1']), peer);
    assert.deepEqual(senders, ['203.0.113.9'], 'the first one is announced');
  });

  it('is the right-most address that is not a configured proxy, never the left-most', () => {
    const addressOf = addressReader(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']);
    assert.equal(addressOf('10.1.1.1', ['1.1.1.1, 203.0.113.9, 10.2.2.2']), '203.0.113.9');
    assert.equal(addressOf('10.1.1.1', ['1.1.1.1', '203.0.113.9', '192.0.2.7']), '203.0.113.9');
    assert.equal(addressOf('::ffff:10.1.1.1', ['2001:db8::1']), '2001:db8::1');
    assert.equal(addressOf('10.1.1.1', ['10.9.9.9, 10.8.8.8']), '10.9.9.9');
    assert.equal(addressOf('10.1.1.1', []), '10.1.1.1');
  });

  it('is read only up to the first text that is not an address', () => {
    const addressOf = addressReader(['10.0.0.0/8']);
    assert.equal(addressOf('10.1.1.1', ['1.1.1.1, unknown, 10.2.2.2']), '10.2.2.2');
    assert.equal(addressOf('10.1.1.1', ['1.1.1.1, 127.1']), '10.1.1.1');
    for (const zone of ['eth0.1', 'eth-0', 'a:b']) {
      assert.equal(addressOf('10.1.1.1', [`1.1.1.1, fe80::1%${zone}`]), '10.1.1.1');
      assert.equal(addressOf(`fe80::1%${zone}`, ['1.1.1.1']), 'unknown');
    }
  });

  it('is never read to the left of an address that is not a configured proxy', () => {
    const addressOf = addressReader(['10.0.0.0/8']);
    fc.assert(
      fc.property(fc.string(), (claim) => {
        assert.equal(addressOf('10.1.1.1', [`${claim}, 203.0.113.9, 10.3.3.3`]), '203.0.113.9');
      }),
    );
  });

  it('needs well-formed ranges, which are checked at the start', () => {
    assert.throws(() => addressReader(['10.0.0.0/99']), /no IP address or CIDR/);
    assert.throws(() => addressReader(['proxy.example.com']), /no IP address or CIDR/);
  });
});
