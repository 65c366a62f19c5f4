import assert from 'node:assert/strict';
import { findServer } from './server.ts';

describe('finding where people sign in', () => {
  it('takes only a web address from a server, because the system opens it', async () => {
    const url = 'https://api.example.com';
    for (const address of ['file:///etc/passwd', 'javascript:alert(1)//', 'vnc://127.0.0.1', 'no address']) {
      const answer = { resource: url, authorization_servers: [address] };
      const finding = findServer(url, {
        fetch: () => Promise.resolve(Response.json(answer)),
        signal: AbortSignal.timeout(5_000),
      });
      await assert.rejects(finding, /does not say where people sign in/, address);
    }
  });
});
