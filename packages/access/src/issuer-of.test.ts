import assert from 'node:assert/strict';
import { apiResourceOf, issuerOf, mcpResourceOf } from './issuer-of.ts';

describe('the issuer', () => {
  it('is AUTH_URL without a slash at its end, and the resources begin the same way', () => {
    for (const url of ['https://auth.example', 'https://auth.example/']) {
      assert.deepEqual([issuerOf(url), mcpResourceOf(url)], ['https://auth.example', 'https://auth.example/mcp']);
    }
    assert.equal(mcpResourceOf('https://example.com/auth/'), 'https://example.com/auth/mcp');
    assert.equal(issuerOf('https://example.com/a-b/c.d/~e_1/'), 'https://example.com/a-b/c.d/~e_1');
    assert.equal(apiResourceOf('https://api.example/'), 'https://api.example');
  });

  it('is refused when clients could write it in another way', () => {
    for (const rest of [
      '?a=b',
      '?',
      '#',
      '/#x',
      '//',
      '/a//b',
      '/a//',
      '/./a',
      '/a/..',
      '/a%20b',
      '/a:b',
      '/(a)',
      '/*',
    ]) {
      assert.throws(() => issuerOf(`https://example.com${rest}`), /must have no/, rest);
    }
    assert.throws(() => issuerOf('https://user@example.com'), /must have no/);
  });
});
