import assert from 'node:assert/strict';
import { openAbsentService } from '../src/absent-service.ts';

describe('a service that a test system leaves out', () => {
  it('is not ready, which is no mistake', async () => {
    await using absent = await openAbsentService('agent');
    assert.equal((await fetch(`${absent.url}/ready`)).status, 503);
  });

  it('ends with an error that names it and the request when a test called it', async () => {
    const absent = await openAbsentService('agent');
    await (await fetch(`${absent.url}/mcp`, { method: 'POST' })).text();
    await assert.rejects(async () => absent[Symbol.asyncDispose](), /agent was called, but not started \(POST \/mcp\)/);
  });
});
