import assert from 'node:assert/strict';
import { Resources } from './resources.ts';

const [API, API1] = ['https://api.example', 'https://api1.example'];
const [MCP, MCP1] = ['https://auth.example/mcp', `${API1}/mcp`];
const resources = new Resources(
  [
    { shard: 0, baseUrl: `${API}/` },
    { shard: 1, baseUrl: API1 },
  ],
  'https://auth.example',
);

describe('the resources that a person grants', () => {
  it('are those of all cells, or the one that is asked for, and of no other server [agent.cells.audience]', () => {
    assert.deepEqual(resources.granted(undefined), [API, MCP, API1, MCP1]);
    assert.deepEqual(resources.granted(MCP1), [MCP1]);
    for (const asked of ['https://api2.example', 'https://api2.example/mcp', `${API}/mcp`, `${MCP1}/x`])
      assert.equal(resources.granted(asked), null, asked);
  });
});

describe('the audience of an access token', () => {
  it('for the API is that of each cell, also of one that was added after the consent', () => {
    assert.deepEqual(resources.audience([API, MCP], undefined), [API, MCP, API1]);
    assert.deepEqual(resources.audience([API], undefined), [API, API1]);
    assert.deepEqual(resources.audience([API, MCP], API1), [API1, API]);
  });

  it('for agents is that of one cell, and of no API [agent.cells.audience]', () => {
    for (const mcp of [MCP, MCP1]) assert.deepEqual(resources.audience([mcp], undefined), [mcp]);
    assert.deepEqual(resources.audience([API, MCP, API1], MCP), [MCP]);
    for (const asked of [API1, MCP1]) assert.throws(() => resources.audience([MCP], asked), { code: 'invalid_target' });
    assert.throws(() => resources.audience([API, MCP], MCP1), { code: 'invalid_target' });
  });

  it('for the agents of a cell that is removed is for no API', () =>
    assert.deepEqual(resources.audience(['https://api9.example/mcp'], undefined), ['https://api9.example/mcp']));
});
