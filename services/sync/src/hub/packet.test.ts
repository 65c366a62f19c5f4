import assert from 'node:assert/strict';
import { LIMITS } from '@wts/contracts';
import * as fc from 'fast-check';
import type { EventEmitter } from 'node:events';
import * as ws from 'ws';
import { PacketWriter, textFrame, watermark, type Packet } from './packet.ts';

/** The parser of the library's client; its types do not mention it. */
const { Receiver } = ws as unknown as {
  readonly Receiver: new (options: object) => EventEmitter & { write(data: Buffer): void };
};

interface Delta {
  readonly type: string;
  readonly packet: { readonly lastSyncId: string; readonly actions: readonly { readonly id: number }[] };
}

/** Decodes a frame with the parser of the client library. */
function receive(frame: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const receiver = new Receiver({ isServer: false, maxPayload: 10_000_000 });
    receiver.on('message', (data: Buffer) => resolve(data.toString('utf8')));
    receiver.on('error', reject);
    receiver.write(frame);
  });
}

describe('a prepared frame', () => {
  for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 200_000]) {
    it(`of ${length} bytes is decoded by a client to the text that was written`, async () => {
      const text = 'x'.repeat(length);
      assert.equal(await receive(textFrame(text)), text);
    });
  }

  it('has a length in bytes, not in characters', async () => {
    const text = 'ä€😀'.repeat(40);
    assert.equal(await receive(textFrame(text)), text);
  });
});

describe('packets', () => {
  const entry = fc.record({ id: fc.integer({ min: 1, max: 1_000_000 }), size: fc.integer({ min: 0, max: 30_000 }) });
  const entries = fc
    .uniqueArray(entry, { selector: ({ id }) => id, maxLength: 300 })
    .map((list) => list.toSorted((a, b) => a.id - b.id));

  it('have every entry once, in order, in bounded packets, with a cursor that is never ahead of them', () =>
    fc.assert(
      fc.asyncProperty(entries, async (list) => {
        const writer = new PacketWriter();
        for (const { id, size } of list) writer.add(BigInt(id), JSON.stringify({ id, text: 'x'.repeat(size) }));
        const packets = writer.finish(2_000_000n);
        const ids: number[] = [];
        for (const [index, packet] of packets.entries()) {
          const { packet: inside } = JSON.parse(await receive(packet.frame)) as Delta;
          ids.push(...inside.actions.map(({ id }) => id));
          assert.equal(packet.count, inside.actions.length);
          assert.ok(packet.count > 0 && packet.count <= LIMITS.socketPacketActionsMax);
          assert.ok(packet.count === 1 || packet.frame.length < 64 * 1024 + 200);
          assert.equal(inside.lastSyncId, packet.last.toString());
          assert.equal(packet.last, index === packets.length - 1 ? 2_000_000n : BigInt(ids.at(-1)!));
        }
        assert.deepEqual(
          ids,
          list.map(({ id }) => id),
        );
      }),
      { numRuns: 40 },
    ));

  it('are none when there is no entry', () => assert.deepEqual(new PacketWriter().finish(7n), [] as Packet[]));

  it('may be empty, to advance a cursor', async () => {
    assert.deepEqual(JSON.parse(await receive(watermark(7n).frame)), {
      type: 'delta',
      packet: { lastSyncId: '7', actions: [] },
    });
  });
});
