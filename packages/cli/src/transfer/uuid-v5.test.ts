import assert from 'node:assert/strict';
import { uuidV5 } from './uuid-v5.ts';

describe('ids that follow from a name', () => {
  it('are those of RFC 9562, appendix A.4', () => {
    const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
    assert.equal(uuidV5(dns, 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2');
  });
});
