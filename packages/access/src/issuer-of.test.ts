import assert from 'node:assert/strict';
import { apiResourceOf, issuerOf, mcpResourceOf } from './issuer-of.ts';

describe('the issuer', () => {
  it('is AUTH_URL without a slash at its end, and the resources begin the same way', () => {
    for (const url of ['https://auth.example', 'https://auth.example/']) {
      assert.deepEqual([issuerOf(url), mcpResourceOf(url)], ['https://auth.example', 'https://auth.example/mcp']);
    }
    assert.equal(mcpResourceOf('https://example.com/auth/'), 'https://example.com/auth/mcp');
    assert.equal(apiResourceOf('https://api.example/'), 'https://api.example');
  });
});
