import { EgressFailure, addressGuard, parseTarget } from '@wts/service-kit/egress';
import fc from 'fast-check';
import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import { WEB_URL } from '../../test/web-url.ts';
import { checkEndpointUrl } from './endpoint-url.ts';

const guard = addressGuard();
const names: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34', '2606:4700::1'],
  'private.example': ['10.0.0.1'],
  'mixed.example': ['93.184.216.34', '10.0.0.1'],
  'half.example': ['93.184.216.34', '::1'],
};
const resolver = {
  resolve: async (name: string) => {
    const addresses = names[name];
    if (addresses === undefined) throw new EgressFailure('dns_error', 'no such name');
    return addresses;
  },
};
const check = (url: string) => checkEndpointUrl(url, { guard, resolver });

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'another protocol': ['http://public.example/', 'ftp://public.example/', 'file:///etc/passwd', 'javascript:alert(1)'],
  credentials: ['https://a:b@public.example/', 'https://a@public.example/', 'https://@public.example/'],
  'a name of this machine or its network': [
    'https://localhost/',
    'https://localhost./',
    'https://LOCALHOST/',
    'https://a.localhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://router.home.arpa/',
    'https://intranet/',
    'https://intranet./',
  ],
  'an address that is not public, however it is spelled': [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0177.0.0.1/',
    'https://１２７。０。０。１/',
    'https://127.0.0.1./',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://100.100.100.200/',
    'https://169.254.169.254/latest/meta-data',
    'https://168.63.129.16/',
    'https://[::]/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'https://[2002:7f00:1::]/',
  ],
  'what is no URL, or another one than it seems': [
    '',
    'public.example',
    'https://',
    'https:///',
    'https:127.0.0.1',
    'https:public.example',
    'https:/public.example/',
    'https:\\\\public.example\\',
    'https://public.example\\@127.0.0.1/',
    'https://1.1.1.1 @127.0.0.1/',
    'https://1.1.1.1\t.public.example/',
    ' https://public.example/',
    'https://public.example/\n',
    'https://[fe80::1%25eth0]/',
    'https://[::1/',
    'https://256.256.256.256/',
    'https://public.example:65536/',
    'https://pub lic.example/',
  ],
  'a port of another protocol': [0, 1, 22, 25, 80, 444, 1023].map((port) => `https://public.example:${port}/`),
  'a name that is none': [
    'https://a..example/',
    'https://.example.com/',
    'https://-a.example/',
    'https://a-.example/',
    'https://a*b.example/',
    `https://${'a'.repeat(64)}.example/`,
    `https://${'a.'.repeat(130)}example/`,
  ],
  'a URL without an end': [`https://public.example/${'a'.repeat(2_048)}`],
  'a URL that is too long once it is written out': [`https://public.example/?${"'".repeat(1_000)}`],
  'a name that has an address which is not public': [
    'https://private.example/',
    'https://mixed.example/',
    'https://half.example/',
  ],
};

describe('the URL of an endpoint', () => {
  for (const [what, urls] of Object.entries(REFUSED)) {
    it(`is refused with a sentence for ${what} [webhooks.create.url-https, webhooks.create.url-public]`, async () => {
      for (const url of urls) assert.match((await check(url)) ?? 'accepted', /^The .*\.$/, url);
    });
  }

  it('is accepted for a public host [webhooks.create.url-https]', async () => {
    for (const url of [
      'https://public.example',
      'https://public.example/',
      'https://public.example./',
      'https://public.example:443/a/b?c=d',
      'https://public.example:1024/',
      'https://public.example:6443/',
      'https://public.example:65535/',
      'https://1.1.1.1/',
      'https://[2606:4700:4700::1111]:8443/',
      'https://under_score.public.example/',
      'https://bücher.example/',
    ]) {
      assert.equal(await check(url), null, url);
    }
  });

  it('is accepted for a name that has no address yet', async () => {
    assert.equal(await check('https://not-yet.example/'), null);
  });

  it('is refused without what DNS said about the name [webhooks.create.url-public]', async () => {
    const sentence = await check('https://private.example/');
    assert.doesNotMatch(sentence ?? '', /10\.|private\.example/);
  });

  it('may lead to what the deployment opened, by address or by a local name', async () => {
    const opened = addressGuard(['10.0.0.0/8']);
    const local = { resolve: async (name: string) => (name === 'consumer' ? ['10.0.0.1'] : ['192.168.0.1']) };
    const judge = (url: string) => checkEndpointUrl(url, { guard: opened, resolver: local });
    assert.equal(await judge('https://10.9.9.9/'), null);
    assert.equal(await judge('https://consumer:8443/'), null);
    assert.notEqual(await judge('https://router.local/'), null);
    assert.notEqual(await judge('https://127.0.0.1/'), null);
  });

  it('leads to where it says: the parts of an accepted URL are those that the platform reads', () => {
    let accepted = 0;
    fc.assert(
      fc.property(WEB_URL, (text) => {
        const target = parseTarget(text, guard);
        if (typeof target === 'string') return;
        accepted += 1;
        const { origin, pathname, search } = new URL(text);
        assert.equal(target.origin, origin);
        assert.equal(target.path, `${pathname}${search}`);
      }),
    );
    assert.notEqual(accepted, 0);
  });

  it('gets an answer whatever it is', () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: ANY_CHARACTER }), WEB_URL), async (text) => {
        for (const url of [text, `https://${text}`, `https://${text}.example/`]) {
          const sentence = await check(url);
          assert.ok(sentence === null || sentence.endsWith('.'));
        }
      }),
    ));
});
