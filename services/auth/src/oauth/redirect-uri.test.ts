import assert from 'node:assert/strict';
import { matchesRedirectUri, refusalOfRedirectUri } from './redirect-uri.ts';

describe('a redirect URI', () => {
  it('has https, http of a loopback address, or a reversed domain as scheme', () => {
    for (const good of [
      'https://app.example.com/callback?from=wts',
      'http://127.0.0.1/cb',
      'http://127.0.0.1:8976/cb',
      'http://[::1]:1/',
      'http://localhost',
      'com.example.app:/oauth',
      'com.example.app://oauth/cb',
      'cursor://anysphere.cursor-mcp/oauth/callback',
    ]) {
      assert.equal(refusalOfRedirectUri(good), null, good);
    }
    for (const bad of [
      undefined,
      7,
      '',
      '/callback',
      'app.example.com/callback',
      'https:/app.example.com/cb',
      'https://app.example.com/#a',
      'https://user@app.example.com/',
      'https://app.example.com/\r\nx: y',
      'https://app.example.com/ä',
      'https://app.example.com\\@evil.example/',
      'http://app.example.com/cb',
      'http://127.0.0.1.evil.example/',
      'http://127.0.0.1@evil.example/',
      'http://127.0.0.2/',
      'http://127.0.0.1:99999/',
      'http://0x7f.1/',
      'http://LOCALHOST/',
      'myapp:/cb',
      'com.example.app://x:99999999/cb',
      'cursor://[',
      'cursors://cb',
      'javascript:alert(1)',
      'JavaScript:alert(1)//a.b',
      'data:text/html,a.b',
      'file:///etc/passwd',
      'about:blank',
      'blob:https://app.example.com/1',
      'vbscript:a.b',
      `https://app.example.com/${'a'.repeat(2048)}`,
    ]) {
      assert.notEqual(refusalOfRedirectUri(bad), null, String(bad));
    }
  });

  it('is the registered text; only the port of the same loopback address may differ', () => {
    const loopback = ['http://127.0.0.1:4000/cb?a=1', 'http://localhost/cb', 'http://[::1]/cb'];
    const registered = ['https://app.example.com/cb', 'com.example.app:/cb', ...loopback];
    for (const same of [
      ...registered,
      'http://127.0.0.1/cb?a=1',
      'http://127.0.0.1:65535/cb?a=1',
      'http://localhost:8976/cb',
      'http://[::1]:8976/cb',
    ]) {
      assert.equal(matchesRedirectUri(registered, same), true, same);
    }
    for (const other of [
      'https://app.example.com:8443/cb',
      'https://app.example.com/cb/',
      'https://app.example.com/cb?a=1',
      'https://APP.example.com/cb',
      'https://app.example.com/%63b',
      'http://app.example.com/cb',
      'http://127.0.0.1:4000/cb',
      'http://127.0.0.1:4000/other?a=1',
      'http://127.0.0.1:4000/cb?a=2',
      'http://127.0.0.1:4000/cb?a=1&b=2',
      'http://127.0.0.1:70000/cb?a=1',
      'https://127.0.0.1:4000/cb?a=1',
      'http://localhost:4000/cb?a=1',
      'http://127.0.0.1:80\\@evil.example/cb?a=1',
      'http://127.0.0.1:80@evil.example/cb?a=1',
      'http://127.0.0.1.evil.example/cb?a=1',
      'http://[0:0:0:0:0:0:0:1]/cb',
      'http://localhost.evil.example/cb',
      'http://localhost:8976/cb#x',
      'http://localhost:8976/cb%0d%0ax',
    ]) {
      assert.equal(matchesRedirectUri(registered, other), false, other);
    }
  });
});
