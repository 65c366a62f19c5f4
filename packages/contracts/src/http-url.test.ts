import assert from 'node:assert/strict';
import { isHttpUrl } from './http-url.ts';

/** In time of the processor, by the best of some tries: a busy machine is no reason. */
function cpuMs(work: () => unknown): number {
  return Math.min(
    ...Array.from({ length: 3 }, () => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    }),
  );
}

describe('an http URL', () => {
  it('is absolute, http or https, without credentials and without characters that a parser would drop', () => {
    for (const text of [
      'http://a',
      'HTTPS://example.com:8443/a%20b?c=d#e',
      'https://bücher.example/ä?ö',
      'http://[2001:db8::1]:80/',
      `https://${'a'.repeat(63)}.example/`,
    ]) {
      assert.equal(isHttpUrl(text), true, text);
    }
    for (const text of [
      'http://',
      'http:///a',
      'ftp://a',
      'http:a',
      'http://a b',
      'http://a/\n',
      'http://a/\u0000',
      'http://a\\b',
      'http://u@a',
      'http://u:p@a/',
      'http://a/\ud800',
      `https://${'a'.repeat(64)}.example/`,
    ]) {
      assert.equal(isHttpUrl(text), false, JSON.stringify(text));
    }
  });

  it('is checked in linear time', () => {
    const letters = Array.from({ length: 2030 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    const hostile = [`http://${'a'.repeat(2030)} `, `http://${letters}`, `http://${letters.slice(0, 250)}/${letters}`];
    for (const text of [...hostile, `http://${letters.replaceAll(/.{50}/g, '$&.')}`, `http://a/${letters} `]) {
      // 100 of the old ones held the event loop for one second and for three.
      const took = cpuMs(() => Array.from({ length: 100 }, () => isHttpUrl(text)));
      assert.ok(took < 100, `100 times ${text.slice(0, 12)}... took ${took} ms`);
    }
  });
});
