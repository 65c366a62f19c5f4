import { LIMITS } from '@wts/contracts';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Spool, SpoolRoom, type SpoolReader } from './spool.ts';

const MEGABYTE = 1024 * 1024;
const piece = (index: number, bytes: number): Buffer => Buffer.alloc(bytes, `${index} `);

async function drain(spool: Spool, reader: SpoolReader, pause?: () => Promise<void>): Promise<string> {
  const hash = createHash('sha256');
  for (;;) {
    const bytes = await spool.read(reader);
    if (bytes === null) return hash.digest('hex');
    hash.update(bytes);
    await pause?.();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a spool', () => {
  it('gives every reader all bytes in order, however they and the writer take turns', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 2 * MEGABYTE }), { minLength: 1, maxLength: 16 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }), run),
      { numRuns: 40 },
    );

    async function run(bytes: readonly number[], paces: readonly number[]): Promise<void> {
      const room = new SpoolRoom();
      const spool = new Spool(room);
      const expected = createHash('sha256');
      const readers = paces.map((pace) => {
        const reader = spool.join();
        return drain(spool, reader, async () => {
          for (let turns = 0; turns < pace; turns += 1) await turn();
        });
      });
      for (const [index, size] of bytes.entries()) {
        const one = piece(index, size);
        expected.update(one);
        await spool.write(one);
        if (index % 3 === 0) await turn();
      }
      spool.finish();
      const hash = expected.digest('hex');
      for (const read of await Promise.all(readers)) assert.equal(read, hash);
      if (spool.isWhole) assert.equal(await drain(spool, spool.join()), hash, 'who comes later gets all too');
      await spool.dispose();
      assert.deepEqual([room.memoryBytes, room.diskBytes], [0, 0]);
    }
  });

  it('keeps to its memory while a reader takes nothing, and still gives it everything [never.unbounded]', async () => {
    const room = new SpoolRoom();
    const spool = new Spool(room);
    const stalled = spool.join();
    const expected = createHash('sha256');
    for (let index = 0; index < 64; index += 1) {
      const one = piece(index, MEGABYTE);
      expected.update(one);
      await spool.write(one);
      assert.ok(room.memoryBytes <= 3 * LIMITS.spoolMemoryBytes, `${room.memoryBytes} bytes in memory`);
    }
    spool.finish();
    assert.ok(room.diskBytes > 32 * MEGABYTE);
    assert.equal(await drain(spool, stalled), expected.digest('hex'));
    await spool.dispose();
    assert.deepEqual([room.memoryBytes, room.diskBytes], [0, 0]);
  });

  it('writes no file for a single reader who keeps up, and lets nobody join any more', async () => {
    const room = new SpoolRoom();
    const spool = new Spool(room);
    const reader = spool.join();
    for (let index = 0; index < 64; index += 1) {
      await spool.write(piece(index, MEGABYTE));
      assert.equal((await spool.read(reader))?.length, MEGABYTE);
    }
    spool.finish();
    assert.equal(await spool.read(reader), null);
    assert.equal(room.diskBytes, 0);
    assert.equal(spool.isWhole, false);
    assert.throws(() => spool.join());
    await spool.dispose();
  });

  it('tells a failure after the last byte before it', async () => {
    const spool = new Spool(new SpoolRoom());
    const reader = spool.join();
    await spool.write(Buffer.from('what came'));
    spool.fail(new Error('broke off'));
    assert.equal(String(await spool.read(reader)), 'what came');
    await assert.rejects(async () => spool.read(reader), { message: 'broke off' });
  });

  it('goes to disk at once when the process is short of memory', async () => {
    const room = new SpoolRoom();
    room.memoryBytes = LIMITS.spoolsMemoryBytesMax + 1;
    const spool = new Spool(room);
    const readers = [spool.join(), spool.join()];
    for (let index = 0; index < 16; index += 1) {
      await spool.write(piece(index, MEGABYTE));
      await turn();
    }
    spool.finish();
    const [one, other] = await Promise.all(readers.map((reader) => drain(spool, reader)));
    assert.equal(one, other);
    assert.ok(room.diskBytes > 0);
    await spool.dispose();
  });

  it('refuses to write past the disk it may take, once, and keeps what was said [never.unbounded]', async () => {
    const room = new SpoolRoom();
    room.diskBytes = LIMITS.spoolsDiskBytesMax + 1;
    const spool = new Spool(room);
    const reader = spool.join();
    spool.join();
    const fill = async (): Promise<void> => {
      for (let index = 0; index < 64; index += 1) await spool.write(piece(index, MEGABYTE));
    };
    await assert.rejects(fill, { name: 'SpoolFull' });
    await spool.write(Buffer.from('last words'));
    spool.fail(new Error('full'));
    let last: Buffer | null = null;
    await assert.rejects(async () => {
      for (;;) last = (await spool.read(reader)) ?? last;
    });
    assert.equal(String(last), 'last words');
    await spool.dispose();
    assert.equal(room.memoryBytes, 0);
  });
});
