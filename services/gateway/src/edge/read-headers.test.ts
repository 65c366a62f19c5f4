import assert from 'node:assert/strict';
import { readHeaders } from './read-headers.ts';

describe('the headers that are forwarded', () => {
  it('include declared end-to-end headers, in order and byte for byte', () => {
    const { onward } = readHeaders(['Content-Type', 'application/json', 'ACCEPT', 'a, b', 'If-None-Match', '"x"']);
    assert.deepEqual(onward, ['content-type', 'application/json', 'accept', 'a, b', 'if-none-match', '"x"']);
  });

  it('exclude identity, forwarding, credential and unknown headers in any spelling [authentication.identity.not-forged]', () => {
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

  it('exclude a header that Connection names, in any case and on any line', () => {
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

  it('and those of the edge keep every value of a repeated header, so that the edge can refuse it', () => {
    const headers = readHeaders(['Host', 'a', 'host', 'b', 'Authorization', 'x', 'authorization', 'y']);
    assert.deepEqual(headers.hosts, ['a', 'b']);
    assert.deepEqual(headers.authorization, ['x', 'y']);
  });

  it('and those of the edge are empty lists when absent, which requests cannot share by mistake', () => {
    readHeaders(['Host', 'a']);
    assert.deepEqual(readHeaders([]).hosts, []);
  });
});
