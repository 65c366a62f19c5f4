import assert from 'node:assert/strict';
import { apiResourceOf, issuerOf, mcpMetadataUrlOf, mcpResourceOf } from './issuer-of.ts';

describe('the issuer', () => {
  it('is AUTH_URL without a slash at its end, and the resources begin the same way', () => {
    const baseUrl = 'https://api.example/';
    for (const authUrl of ['https://auth.example', 'https://auth.example/']) {
      const found = [issuerOf(authUrl), mcpResourceOf({ authUrl, baseUrl })];
      assert.deepEqual(found, ['https://auth.example', 'https://auth.example/mcp']);
    }
    assert.equal(mcpResourceOf({ authUrl: 'https://example.com/auth/', baseUrl }), 'https://example.com/auth/mcp');
    assert.equal(issuerOf('https://example.com/a-b/c.d/~e_1/'), 'https://example.com/a-b/c.d/~e_1');
    assert.equal(apiResourceOf('https://api.example/'), 'https://api.example');
  });

  it('has the agent endpoint of cell 0 alone; that of a further cell is at the address of the cell [agent.cells.address]', () => {
    const [authUrl, baseUrl] = ['https://auth.example', 'https://api1.example/'];
    for (const [shard, origin] of [
      [0, authUrl],
      [1, 'https://api1.example'],
    ] as const) {
      const found = [mcpResourceOf({ shard, authUrl, baseUrl }), mcpMetadataUrlOf({ shard, authUrl, baseUrl })];
      assert.deepEqual(found, [`${origin}/mcp`, `${origin}/.well-known/oauth-protected-resource/mcp`]);
    }
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
