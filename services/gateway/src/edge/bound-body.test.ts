import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Fault } from '@wts/contracts';
import { BoundedBody, ClientGone } from './bound-body.ts';

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
  const req = Object.assign(stream, { complete: false }) as unknown as IncomingMessage;
  stream.once('end', () => (req.complete = true));
  return { req, taken: () => taken };
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(16 * 1024, 'x');
}

describe('a body on its way', () => {
  it('arrives whole when it ends at its bound', async () => {
    const { req } = sender([Buffer.from('ab'), Buffer.from('cd')]);
    assert.equal((await buffer(new BoundedBody(req, 4))).toString(), 'abcd');
  });

  it('ends in a fault at the first byte past its bound', async () => {
    const { req, taken } = sender(endless());
    await assert.rejects(buffer(new BoundedBody(req, 100_000)), (error: Fault) => error.code === 'payload_too_large');
    assert.ok(taken() < 300_000, `${taken()} bytes were taken`);
  });

  it('takes no more from the sender than fits in its buffers while nobody reads it', async () => {
    const { req, taken } = sender(endless());
    const body = new BoundedBody(req, 1024 ** 3);
    body.read(0);
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(taken() <= 256 * 1024, `${taken()} bytes were taken`);
    body.destroy();
  });

  it('breaks off when the sender leaves in the middle', async () => {
    const { req } = sender(endless());
    const body = new BoundedBody(req, 1024 ** 3);
    body.once('data', () => req.destroy());
    await assert.rejects(buffer(body), ClientGone);
  });
});
