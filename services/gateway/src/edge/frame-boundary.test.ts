import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FrameBoundary, closeFrame } from './frame-boundary.ts';

function frame(payloadBytes: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const length =
    payloadBytes < 126
      ? Buffer.from([0x82, mask | payloadBytes])
      : payloadBytes < 65_536
        ? Buffer.from([0x82, mask | 126, payloadBytes >> 8, payloadBytes & 0xff])
        : Buffer.from([
            0x82,
            mask | 127,
            0,
            0,
            0,
            0,
            0,
            payloadBytes >> 16,
            (payloadBytes >> 8) & 0xff,
            payloadBytes & 0xff,
          ]);
  return Buffer.concat([length, Buffer.alloc(isMasked ? 4 : 0, 7), Buffer.alloc(payloadBytes, 0xff)]);
}

const anyFrame = fc.record({ bytes: fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536), isMasked: fc.boolean() });

describe('following frames of a socket', () => {
  it('finds the end of every frame, however the bytes arrive', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 4 }), fc.integer({ min: 1, max: 70_000 }), (frames, step) => {
        const stream = Buffer.concat(frames.map(({ bytes, isMasked }) => frame(bytes, isMasked)));
        const ends = new Set<number>([0]);
        let end = 0;
        for (const { bytes, isMasked } of frames) ends.add((end += frame(bytes, isMasked).length));

        const boundary = new FrameBoundary();
        for (let at = 0; at < stream.length; at += step) {
          const chunk = stream.subarray(at, at + step);
          const complete = boundary.feed(chunk);
          const last = [...ends].findLast((one) => one > at && one <= at + chunk.length);
          assert.equal(complete, last === undefined ? 0 : last - at);
          assert.equal(boundary.reached, ends.has(at + chunk.length));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('writes a close frame that is one whole masked frame', () => {
    const boundary = new FrameBoundary();
    assert.equal(boundary.feed(closeFrame(1012)), 8);
    assert.ok(boundary.reached);
  });
});
