import { makeSecrets } from '@wts/local';
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { findSecret } from './find-secret.ts';

describe('the search for secrets in an image', () => {
  it('finds keys of services, private keys, API keys and tokens of registries [installation.images.no-secret]', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const [serviceKey = ''] = Object.values(makeSecrets().serviceKeys);
    for (const secret of [
      `INTERNAL_TOKEN_KEY=${serviceKey}`,
      privateKey.export({ type: 'pkcs8', format: 'pem' }),
      privateKey.export({ type: 'sec1', format: 'pem' }),
      `{"apiKey":"wts_${'aB3'.repeat(16)}c"}`,
      `//registry.example.com/:_authToken=${'0'.repeat(8)}-4e1b`,
      `ghp_${'a1'.repeat(18)}`,
    ])
      assert.notEqual(findSecret(`first line\n${secret}\nlast line`), null, secret);
  });

  it('passes over the names of such secrets, and over a file that reads them from the environment', () => {
    const kind = 'PRIVATE';
    for (const text of [
      `if (pem.startsWith('-----BEGIN ${kind} KEY-----')) return;`,
      '//registry.example.com/:_authToken=${NPM_TOKEN}',
      'const prefix = "wts_";',
    ])
      assert.equal(findSecret(text), null, text);
  });
});
