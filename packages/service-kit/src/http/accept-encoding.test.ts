import assert from 'node:assert/strict';
import { acceptsGzip } from './accept-encoding.ts';

describe('gzip', () => {
  it('is accepted by a client that names it in any spelling, or *', () => {
    for (const header of ['gzip', 'GZIP', 'x-gzip', 'deflate, gzip;q=0.5', 'br ; q=1 , gzip ; q=0.1', '*', '*;q=0.2'])
      assert.ok(acceptsGzip(header), header);
  });

  it('is not accepted by a client that does not name it, or with weight 0', () => {
    for (const header of [
      undefined,
      '',
      'identity',
      'br',
      'gzip;q=0',
      'gzip; q=0.0',
      'gzip;q=x',
      '*, gzip;q=0',
      '*;q=0',
    ]) {
      assert.ok(!acceptsGzip(header), String(header));
    }
  });
});
