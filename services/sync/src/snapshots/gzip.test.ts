import fc from 'fast-check';
import assert from 'node:assert/strict';
import { crc32, gunzipSync } from 'node:zlib';
import { combineCrc32, Deflater, gzipHead, gzipTail } from './gzip.ts';

const text = fc.uint8Array({ maxLength: 5000 }).map((bytes) => Buffer.from(bytes));

describe('a gzip body of two parts', () => {
  it('has the checksum of the whole, combined from those of the parts', () =>
    fc.assert(
      fc.property(text, text, (first, second) => {
        const whole = crc32(Buffer.concat([first, second]));
        assert.equal(combineCrc32(crc32(first), crc32(second), second.length), whole);
      }),
    ));

  it('unpacks to the first line and the shared rest, for any content', () =>
    fc.assert(
      fc.asyncProperty(text, fc.array(text, { maxLength: 8 }), async (head, pieces) => {
        const { compressed, content } = await deflate(pieces);
        const file = Buffer.concat([gzipHead(head), compressed, gzipTail(head, content)]);
        assert.deepEqual(gunzipSync(file), Buffer.concat([head, ...pieces]));
      }),
      { numRuns: 50 },
    ));

  it('unpacks with a first line longer than one stored block, and a rest of many pieces', async () => {
    const head = Buffer.alloc(200_000, 'a long list of groups ');
    const pieces = Array.from({ length: 100 }, (_, index) => Buffer.alloc(10_000 + index, `line ${index}\n`));
    const { compressed, content } = await deflate(pieces);
    const file = Buffer.concat([gzipHead(head), compressed, gzipTail(head, content)]);
    assert.deepEqual(gunzipSync(file), Buffer.concat([head, ...pieces]));
  });
});

async function deflate(pieces: readonly Buffer[]): Promise<{ compressed: Buffer; content: Deflater['content'] }> {
  const out: Buffer[] = [];
  using deflater = new Deflater({ write: (bytes) => void out.push(bytes) });
  for (const piece of pieces) await deflater.write(piece);
  await deflater.end();
  return { compressed: Buffer.concat(out), content: deflater.content };
}
