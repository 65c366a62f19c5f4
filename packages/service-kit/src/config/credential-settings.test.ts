import { generateApiKey } from '@wts/access';
import assert from 'node:assert/strict';
import { scrub } from '../observe/scrub.ts';
import { credentialSettings } from './credential-settings.ts';
import { parseSettings } from './settings.ts';

const prefixOf = (text: string): string => parseSettings(credentialSettings, { API_KEY_PREFIX: text }).apiKeyPrefix;

describe('the prefix of API keys', () => {
  it('is recognized in logs, so that keys are redacted [never.secret-in-clear]', () => {
    for (const prefix of ['wts_', 'a_', 'Key1234_']) {
      const { token } = generateApiKey(prefixOf(prefix));
      assert.ok(!scrub(`{"text":"${token}"}`).includes(token.slice(prefix.length)), prefix);
    }
  });

  it('is refused when it is of another shape', () => {
    for (const prefix of ['wts', 'wts-', '_', '9x_', 'a_b_', 'w ts_', 'abcdefgh_'])
      assert.throws(() => prefixOf(prefix), /API_KEY_PREFIX must match/, prefix);
  });
});

describe('AUTH_URL', () => {
  it('may have a path of any number of segments, and nothing that an issuer cannot have', () => {
    const read = (text: string): string => parseSettings(credentialSettings, { AUTH_URL: text }).authUrl;
    assert.equal(read('https://example.com/a/b/'), 'https://example.com/a/b/');
    assert.throws(() => read('https://example.com/a?b'), /AUTH_URL must have no user name, query/);
    assert.throws(() => read('ftp://example.com'), /AUTH_URL must be a URL that starts with http/);
  });
});
