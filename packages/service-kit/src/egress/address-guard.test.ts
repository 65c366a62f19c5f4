import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import assert from 'node:assert/strict';
import { addressGuard, canonicalAddress, refuseRange } from './address-guard.ts';

const guard = addressGuard();

/** Written down once more, so that a block which is lost from the guard is missed here. */
const DENIED_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const GLOBAL_V6 = '2000::/3';
const DENIED_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

interface Block {
  readonly first: bigint;
  readonly last: bigint;
}

const bitsOf = { ipv4: 32, ipv6: 128 } as const;

function blockOf(cidr: string): Block {
  const [address, length] = ipaddr.parseCIDR(cidr);
  const first = numberOf(address.toString());
  return { first, last: first + (1n << BigInt(bitsOf[address.kind()] - length)) - 1n };
}

function numberOf(text: string): bigint {
  return ipaddr
    .parse(text)
    .toByteArray()
    .reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function textOf(value: bigint, kind: 'ipv4' | 'ipv6'): string {
  const bytes = Array.from({ length: bitsOf[kind] / 8 }, (_, index, { length } = { length: bitsOf[kind] / 8 }) =>
    Number((value >> BigInt(8 * (length - 1 - index))) & 255n),
  );
  return ipaddr.fromByteArray(bytes).toString();
}

const anyV4 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => textOf(value, 'ipv4'));
const deniedV4 = DENIED_V4.map(blockOf);
const within = (value: bigint, blocks: readonly Block[]): boolean =>
  blocks.some(({ first, last }) => value >= first && value <= last);

/** Every way in which an IPv6 address can carry an IPv4 one. */
const EMBEDDINGS: Readonly<Record<string, (v4: string) => string>> = {
  mapped: (v4) => `::ffff:${v4}`,
  compatible: (v4) => `::${v4}`,
  translated: (v4) => `::ffff:0:${v4}`,
  NAT64: (v4) => `64:ff9b::${v4}`,
  'local NAT64': (v4) => `64:ff9b:1::${v4}`,
  '6to4': (v4) => textOf((0x2002n << 112n) | (numberOf(v4) << 80n), 'ipv6'),
  Teredo: (v4) => textOf((0x2001_0000n << 96n) | (numberOf(v4) ^ 0xffff_ffffn), 'ipv6'),
  'a server of Teredo': (v4) => textOf((0x2001_0000n << 96n) | (numberOf(v4) << 64n), 'ipv6'),
  ISATAP: (v4) => `2a00:1450::5efe:${v4}`,
  'ISATAP of a public address': (v4) => `2a00:1450::200:5efe:${v4}`,
  'link-local ISATAP': (v4) => `fe80::5efe:${v4}`,
};

describe('the address guard [webhooks.attempt.address-guard]', () => {
  for (const [kind, cidrs] of [
    ['ipv4', DENIED_V4],
    ['ipv6', DENIED_V6],
  ] as const) {
    for (const cidr of cidrs) {
      it(`refuses ${cidr} up to its edges, and nothing beyond them`, () => {
        const { first, last } = blockOf(cidr);
        fc.assert(
          fc.property(fc.bigInt({ min: first, max: last }), (value) => !guard.allows(textOf(value, kind))),
          { examples: [[first], [last]] },
        );
        const all = cidrs.map(blockOf);
        for (const beyond of [first - 1n, last + 1n]) {
          const isOther = beyond < 0n || beyond >= 2n ** BigInt(bitsOf[kind]) || within(beyond, all);
          if (!isOther) assert.ok(guard.allows(textOf(beyond, kind)), textOf(beyond, kind));
        }
      });
    }
  }

  it('allows every other IPv4 address', () => {
    fc.assert(fc.property(anyV4, (text) => guard.allows(text) === !within(numberOf(text), deniedV4)));
    for (const text of ['1.1.1.1', '8.8.8.8', '11.22.33.44', '93.184.216.34', '168.63.129.15', '223.255.255.255'])
      assert.ok(guard.allows(text), text);
  });

  it(`allows no IPv6 address outside ${GLOBAL_V6}`, () => {
    const { first, last } = blockOf(GLOBAL_V6);
    const below = fc.bigInt({ min: 0n, max: first - 1n });
    const above = fc.bigInt({ min: last + 1n, max: 2n ** 128n - 1n });
    fc.assert(
      fc.property(fc.oneof(below, above), (value) => !guard.allows(textOf(value, 'ipv6'))),
      {
        examples: [[0n], [1n], [first - 1n], [last + 1n], [2n ** 128n - 1n]],
      },
    );
    for (const text of ['2606:4700:4700::1111', '2a00:1450::200e', '2001:200::1', '2001:4860:4860::8888', '3ffe::1'])
      assert.ok(guard.allows(text), text);
  });

  for (const [name, embed] of Object.entries(EMBEDDINGS)) {
    it(`refuses every IPv4 address in IPv6 form: ${name}`, () =>
      fc.assert(
        fc.property(anyV4, (text) => !guard.allows(embed(text))),
        {
          examples: [['127.0.0.1'], ['10.0.0.1'], ['169.254.169.254'], ['8.8.8.8']],
        },
      ));
  }

  it('refuses the addresses where clouds keep credentials', () => {
    for (const text of [
      '169.254.169.254',
      '169.254.170.2',
      '100.100.100.200',
      '192.0.0.192',
      '168.63.129.16',
      'fd00:ec2::254',
      'fd20:ce::254',
    ]) {
      assert.equal(guard.allows(text), false, text);
    }
  });

  it('refuses what is no address in its one plain form', () => {
    for (const text of ['', 'example.com', '127.1', '0x7f.0.0.1', '8.8.8', '010.8.8.8', '2a00::1%eth0', '[2a00::1]'])
      assert.equal(guard.allows(text), false, text);
  });

  it('gives one spelling to each address', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (value) => {
        const text = textOf(value, 'ipv6');
        const once = canonicalAddress(text);
        assert.equal(canonicalAddress(once ?? ''), once);
        assert.equal(canonicalAddress(ipaddr.parse(text).toNormalizedString().toUpperCase()), once);
        assert.equal(numberOf(once ?? ''), value);
      }),
    );
    fc.assert(fc.property(anyV4, (text) => canonicalAddress(text) === text));
  });
});

describe('the addresses that a deployment opens', () => {
  it('are those and no others', () => {
    const opened = addressGuard(['10.1.0.0/16', '127.0.0.1', 'fd00:1::/32', '::1']);
    for (const text of ['10.1.0.0', '10.1.255.255', '127.0.0.1', 'fd00:1::5', '::1', '8.8.8.8'])
      assert.ok(opened.allows(text), text);
    for (const text of ['10.0.255.255', '10.2.0.0', '127.0.0.2', 'fd00:2::5', '::2', '::ffff:10.1.0.1', '0.0.0.0'])
      assert.equal(opened.allows(text), false, text);
  });

  it('open every address of their block and none beside it', () => {
    const start = fc.bigInt({ min: blockOf('10.0.0.0/8').first, max: blockOf('10.0.0.0/8').last });
    fc.assert(
      fc.property(start, fc.integer({ min: 9, max: 32 }), (value, length) => {
        const size = 1n << BigInt(32 - length);
        const first = (value / size) * size;
        const opened = addressGuard([`${textOf(value, 'ipv4')}/${length}`]);
        assert.ok(opened.allows(textOf(first, 'ipv4')) && opened.allows(textOf(first + size - 1n, 'ipv4')));
        const beside = [first - 1n, first + size].filter((one) => within(one, [blockOf('10.0.0.0/8')]));
        assert.ok(beside.every((one) => !opened.allows(textOf(one, 'ipv4'))));
      }),
    );
  });

  it('must be written as blocks or addresses', () => {
    for (const text of ['10.0.0.0/33', '10.0.0/8', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/-1', 'all', '::/129', '']) {
      assert.match(refuseRange(text) ?? '', /neither a CIDR block nor an address/, text);
      assert.throws(() => addressGuard([text]), text);
    }
    for (const text of ['10.0.0.0/8', '10.0.0.1', '::1', 'fd00::/8', '0.0.0.0/0'])
      assert.equal(refuseRange(text), null);
  });
});
