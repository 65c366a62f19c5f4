import assert from 'node:assert/strict';
import { RowCounter } from './bootstrap.ts';

describe('counting the rows of a bootstrap', () => {
  const text =
    '{"lastSyncId":"5"}\n{"__class":"Task","id":"1"}\n{"__class":"Task","title":"{\\"__class\\":\\"Task\\""}\n{"type":"end"}\n';

  it('counts each task once, wherever the stream is split', () => {
    for (let cut = 1; cut < text.length; cut += 1) {
      const counter = new RowCounter();
      counter.take(Buffer.from(text.slice(0, cut)));
      counter.take(Buffer.from(text.slice(cut)));
      assert.deepEqual([counter.rows, counter.bytes], [2, text.length], `cut at ${cut}`);
    }
  });

  it('counts them when they arrive byte by byte', () => {
    const counter = new RowCounter();
    for (const byte of Buffer.from(text)) counter.take(Buffer.of(byte));
    assert.equal(counter.rows, 2);
  });
});
