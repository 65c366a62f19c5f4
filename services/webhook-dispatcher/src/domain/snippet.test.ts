import fc from 'fast-check';
import assert from 'node:assert/strict';
import { SNIPPET_BYTES_MAX, snippetOf } from './snippet.ts';

const bytes = fc.uint8Array({ maxLength: 3 * SNIPPET_BYTES_MAX }).map((array) => Buffer.from(array));

describe('the snippet of an answer', () => {
  it('is text that PostgreSQL takes, of 1 KiB at most, whatever the bytes', () =>
    fc.assert(
      fc.property(bytes, (body) => {
        const text = snippetOf(body);
        if (text === null) return body.length === 0 || body.length < 4;
        return text.isWellFormed() && !text.includes('\0') && Buffer.byteLength(text) <= SNIPPET_BYTES_MAX;
      }),
      { examples: [[Buffer.alloc(2_000)], [Buffer.alloc(2_000, 0xff)], [Buffer.from([0xed, 0xa0, 0x80])]] },
    ));

  it('begins as the text does, and never ends within a character', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 900 }), (text) => {
        const snippet = snippetOf(Buffer.from(text)) ?? '';
        return text.startsWith(snippet) && Buffer.byteLength(snippet) > Math.min(Buffer.byteLength(text), 1_020) - 1;
      }),
    ));

  it('is null when there is no body', () => assert.equal(snippetOf(Buffer.alloc(0)), null));
});
