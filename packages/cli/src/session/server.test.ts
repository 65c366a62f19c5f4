import assert from 'node:assert/strict';
import { findServer, withScheme } from './server.ts';

describe('finding where people sign in', () => {
  it('takes an address without a scheme for https, and for http on this machine', () => {
    for (const [given, address] of [
      ['127.0.0.1:4000', 'http://127.0.0.1:4000'],
      ['localhost:4000', 'http://localhost:4000'],
      ['[::1]:4000/a', 'http://[::1]:4000/a'],
      ['localhost.example.com', 'https://localhost.example.com'],
      ['api.example.com', 'https://api.example.com'],
      ['HTTP://api.example.com', 'HTTP://api.example.com'],
    ] as const)
      assert.equal(withScheme(given), address);
  });

  it('says so at the address where people sign in, which is not that of the API', async () => {
    const url = 'https://login.example.com';
    const answers: typeof fetch = (input) => {
      const isSignIn = new Request(input).url.endsWith('/.well-known/oauth-authorization-server');
      return Promise.resolve(Response.json(isSignIn ? { issuer: url } : {}, { status: isSignIn ? 200 : 404 }));
    };
    const finding = findServer(url, { fetch: answers, signal: AbortSignal.timeout(5_000) });
    await assert.rejects(finding, /is where people sign in\. Name the address of the API/);
  });

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
