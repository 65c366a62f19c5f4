import assert from 'node:assert/strict';
import { parseProvider } from './provider-setting.ts';

describe('the setting OIDC_PROVIDER', () => {
  const GOOD = { issuer: 'https://id.example', clientId: 'wts', name: 'Example' };
  const parse = (changes: object): unknown => parseProvider(JSON.stringify({ ...GOOD, ...changes }));

  it('has the scopes of a profile by default', () => {
    assert.deepEqual(parse({}), { ...GOOD, scopes: ['openid', 'profile', 'email'], trustsEmails: false });
    assert.deepEqual(parse({ clientSecret: 's', scopes: ['openid'], trustsEmails: true }), {
      ...GOOD,
      clientSecret: 's',
      scopes: ['openid'],
      trustsEmails: true,
    });
    assert.deepEqual((parse({ allowedCidrs: ['10.1.0.0/16'] }) as { allowedCidrs: unknown }).allowedCidrs, [
      '10.1.0.0/16',
    ]);
  });

  it('allows http for providers on this machine only', () => {
    for (const issuer of ['http://127.0.0.1:4999', 'http://localhost', 'http://[::1]:1'])
      assert.doesNotThrow(() => parse({ issuer }));
    for (const issuer of ['http://id.example', 'http://127.0.0.1.example', 'ftp://x', 'id.example', 7])
      assert.throws(() => parse({ issuer }), /issuer/, String(issuer));
  });

  it('refuses unknown fields, and missing ones', () => {
    for (const bad of [
      { clientId: '' },
      { clientId: 1 },
      { name: ' ' },
      { scopes: ['profile'] },
      { scopes: 'openid' },
      { secret: 'x' },
      { clientSecret: 1 },
      { trustsEmails: 'yes' },
      { allowedCidrs: '10.0.0.0/8' },
      { allowedCidrs: ['10.0.0.0/33'] },
    ]) {
      assert.throws(() => parse(bad), JSON.stringify(bad));
    }
  });
});
