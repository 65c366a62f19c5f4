import fc from 'fast-check';
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import type { Connection } from 'pg';
import { CopyTap } from './copy-tap.ts';

interface Message {
  readonly type: string;
  readonly body: Uint8Array;
}

const message = fc.record({
  type: fc.constantFrom('d', 'd', 'd', 'C', 'N', 'S'),
  body: fc.uint8Array({ maxLength: 40 }),
});

function bytesOf({ type, body }: Message): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

describe('the tap on a connection', () => {
  it('reads CopyData and passes all else to pg, in order, wherever the network splits messages', () =>
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 }),
        (messages, cuts) => {
          const stream = new PassThrough();
          const seen: string[] = [];
          const pg: Buffer[] = [];
          stream.on('data', (bytes: Buffer) => pg.push(Buffer.from(bytes)));
          const tap = new CopyTap({ stream } as unknown as Connection, {
            onData: (bytes, start, end) => {
              seen.push(bytes.subarray(start, end).toString('hex'));
              // The reader may overwrite the data.
              bytes.fill(0, start, end);
            },
            onPause: () => {},
          });
          const all = Buffer.concat(messages.map(bytesOf));
          for (let at = 0, index = 0; at < all.length; index += 1) {
            const size = cuts[index % cuts.length] ?? 1;
            stream.emit('data', Buffer.from(all.subarray(at, at + size)));
            at += size;
          }
          tap.remove();
          stream.emit('data', Buffer.from('afterwards'));
          const data = messages.filter(({ type }) => type === 'd');
          const others = messages.filter(({ type }) => type !== 'd');
          assert.deepEqual(
            seen,
            data.map(({ body }) => Buffer.from(body).toString('hex')),
          );
          const left = Buffer.concat([...others.map(bytesOf), Buffer.from('afterwards')]);
          assert.deepEqual(Buffer.concat(pg), left);
        },
      ),
    ));
});
