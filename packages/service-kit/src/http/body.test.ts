import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Fault } from '@wts/contracts';
import { ClientClosedError, collectBody, joined, sizeOf } from './body.ts';

/** A request's body as a stream; the only part of a request that is looked at. */
function sender(parts: Iterable<Buffer>): { req: IncomingMessage; taken: () => number } {
  let taken = 0;
  function* counted(): Generator<Buffer> {
    for (const part of parts) {
      taken += part.length;
      yield part;
    }
  }
  const stream = Readable.from(counted(), { objectMode: false, highWaterMark: 16 * 1024 });
  return { req: stream as unknown as IncomingMessage, taken: () => taken };
}

function* endless(): Generator<Buffer> {
  const part = Buffer.alloc(16 * 1024, 'x');
  for (;;) yield part;
}

const roomForAll = (): null => null;

describe('collecting a body', () => {
  it('returns a body that ends at its bound, with a declared length or without', async () => {
    for (const declared of [4, null]) {
      const { req } = sender([Buffer.from('ab'), Buffer.from('cd')]);
      assert.equal(String(joined(await collectBody(req, { declared, bytesMax: 4, hold: roomForAll }))), 'abcd');
    }
    assert.deepEqual(await collectBody(sender([]).req, { declared: null, bytesMax: 4, hold: roomForAll }), []);
  });

  it('keeps the order of small and large parts, and few objects for many small ones [never.unbounded]', async () => {
    const bytes = randomBytes(200_000);
    const cuts = Array.from({ length: 300 }, (_, at) => (at % 7 === 0 ? 5_000 : 1 + (at % 3)));
    const parts: Buffer[] = [];
    let at = 0;
    for (const length of [...cuts, bytes.length]) parts.push(bytes.subarray(at, (at += length)));
    const { req } = sender(parts.filter(({ length }) => length > 0));
    const collected = await collectBody(req, { declared: bytes.length, bytesMax: bytes.length, hold: roomForAll });
    assert.ok(bytes.equals(joined(collected)));
    const single = Array.from({ length: 15_000 }, () => Buffer.from('x'));
    const small = await collectBody(sender(single).req, { declared: null, bytesMax: 20_000, hold: roomForAll });
    assert.deepEqual([sizeOf(small), small.length <= 4], [15_000, true]);
    const two = await collectBody(sender(single.slice(0, 2)).req, { declared: 2, bytesMax: 2, hold: roomForAll });
    assert.deepEqual([two.length, two[1]?.buffer.byteLength], [2, 4096], 'two bytes hold no block of 64 KiB');
  });

  it('rejects more chunks than a body needs, however small they are [never.unbounded]', async () => {
    const { req, taken } = sender(Iterator.from(endless()).map((part) => part.subarray(0, 1)));
    await assert.rejects(
      collectBody(req, { declared: null, bytesMax: 1024 ** 2, hold: roomForAll }),
      (error: Fault) => error.code === 'malformed_request' && error.message.includes('Content-Length'),
    );
    assert.ok(taken() < 40_000, `${taken()} chunks were taken`);
  });

  it('rejects at the first byte over the bound, and reads no more', async () => {
    const { req, taken } = sender(endless());
    const collected = collectBody(req, { declared: null, bytesMax: 100_000, hold: roomForAll });
    await assert.rejects(collected, (error: Fault) => error.code === 'payload_too_large');
    assert.ok(taken() < 300_000, `${taken()} bytes were taken`);
  });

  it('rejects when there is no memory left, and reads no more [never.unbounded]', async () => {
    const { req, taken } = sender(endless());
    let room = 50_000;
    const hold = (bytes: number): Fault | null => {
      room -= bytes;
      return room < 0 ? new Fault('unavailable') : null;
    };
    await assert.rejects(
      collectBody(req, { declared: null, bytesMax: 1024 ** 3, hold }),
      (error: Fault) => error.code === 'unavailable',
    );
    assert.ok(taken() < 300_000, `${taken()} bytes were taken`);
  });

  it('rejects when the sender disconnects in the middle', async () => {
    const { req } = sender(endless());
    req.once('data', () => req.destroy());
    await assert.rejects(
      collectBody(req, { declared: null, bytesMax: 1024 ** 3, hold: roomForAll }),
      ClientClosedError,
    );
  });
});
