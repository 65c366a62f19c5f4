import assert from 'node:assert/strict';
import { readHeaders } from './read-headers.ts';

describe('what of a request travels on', () => {
  it('keeps declared end-to-end headers, in order and byte for byte', () => {
    const { onward } = readHeaders(['Content-Type', 'application/json', 'ACCEPT', 'a, b', 'If-None-Match', '"x"']);
    assert.deepEqual(onward, ['content-type', 'application/json', 'accept', 'a, b', 'if-none-match', '"x"']);
  });

  it('stops identity, forwarding, credential and unknown headers, however they are written [authentication.identity.not-forged]', () => {
    const names = [
      'X-Wts-Principal',
      'x-wts-anything',
      'X-User-Id',
      'X-Internal-User',
      'Authorization',
      'Cookie',
      'X-Anything',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'X-FORWARDED-PROTO',
      'Forwarded',
      'X-Real-IP',
      'CF-Connecting-IP',
      'Connection',
      'Keep-Alive',
      'TE',
      'Trailer',
      'Transfer-Encoding',
      'Upgrade',
      'Proxy-Connection',
      'Expect',
      'X-HTTP-Method-Override',
      'Content-Length',
      'Host',
      'Via',
      'HTTP2-Settings',
      '__proto__',
      'constructor',
    ];
    assert.deepEqual(readHeaders(names.flatMap((name) => [name, 'x'])).onward, []);
  });

  it('stops a header that Connection names, in any case and on any line', () => {
    const { onward } = readHeaders([
      'Content-Type',
      'a',
      'Connection',
      'close, CONTENT-TYPE',
      'Accept',
      'b',
      'connection',
      'If-Match',
      'if-match',
      'c',
    ]);
    assert.deepEqual(onward, ['accept', 'b']);
  });

  it('keeps every value of a header that is said twice, so that the edge can refuse it', () => {
    const headers = readHeaders(['Host', 'a', 'host', 'b', 'Authorization', 'x', 'authorization', 'y']);
    assert.deepEqual(headers.hosts, ['a', 'b']);
    assert.deepEqual(headers.authorization, ['x', 'y']);
  });

  it('gives absent headers as empty lists that no request can fill for another', () => {
    readHeaders(['Host', 'a']);
    assert.deepEqual(readHeaders([]).hosts, []);
  });
});
