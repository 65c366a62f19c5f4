import assert from 'node:assert/strict';
import { narrowResources } from './token-request.ts';

const [API, MCP, OTHER] = ['https://api.example', 'https://auth.example/mcp', 'https://api1.example'] as const;

describe('the audience of an access token', () => {
  const audience = (granted: readonly string[], resource?: string): readonly string[] =>
    narrowResources(
      { resources: [API, MCP, OTHER] },
      new Map(resource === undefined ? [] : [['resource', resource]]),
      granted,
    );

  it('for the API is that of each cell, also of one that was added after the consent', () => {
    assert.deepEqual(audience([API, MCP]), [API, MCP, OTHER]);
    assert.deepEqual(audience([API]), [API, OTHER]);
    assert.deepEqual(audience([API, MCP], OTHER), [OTHER, API]);
  });

  it('for agents alone is for no API', () => {
    assert.deepEqual(audience([MCP]), [MCP]);
    assert.deepEqual(audience([API, MCP, OTHER], MCP), [MCP]);
    assert.throws(() => audience([MCP], OTHER), { code: 'invalid_target' });
  });
});
