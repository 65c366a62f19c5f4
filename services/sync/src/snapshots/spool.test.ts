import { eventually } from '@wts/testkit';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Spool, SpoolBudget, type SpoolReader } from './spool.ts';
import { SERVICE_LIMITS } from '@wts/service-kit/limits';
import { SYNC_LIMITS } from '../limits.ts';

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
  it('gives every reader all bytes in order, for any order of writes and reads', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: MEGABYTE }), { minLength: 1, maxLength: 16, size: 'max' });
    const paces = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 });
    // With the lesser one most of the bytes go through the file.
    const memories = fc.constantFrom(MEGABYTE, SYNC_LIMITS.spoolsMemoryBytesMax);
    await fc.assert(fc.asyncProperty(sizes, paces, memories, run), { numRuns: 12 });

    async function run(bytes: readonly number[], paces: readonly number[], memoryBytes: number): Promise<void> {
      const budget = new SpoolBudget({ memoryBytes });
      const spool = new Spool(budget, 'ada');
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
      if (spool.isWhole) assert.equal(await drain(spool, spool.join()), hash, 'a later reader gets all too');
      await spool.dispose();
      assert.deepEqual([budget.memory.total, budget.disk.total], [0, 0]);
    }
  });

  it('stays within its memory while a reader reads nothing, and gives it everything later [never.unbounded]', async () => {
    const budget = new SpoolBudget();
    const spool = new Spool(budget, 'ada');
    const stalled = spool.join();
    const expected = createHash('sha256');
    for (let index = 0; index < 64; index += 1) {
      const one = piece(index, MEGABYTE);
      expected.update(one);
      await spool.write(one);
      assert.ok(budget.memory.total <= 3 * SYNC_LIMITS.spoolMemoryBytes, `${budget.memory.total} bytes in memory`);
    }
    spool.finish();
    assert.ok(budget.disk.total > 32 * MEGABYTE);
    assert.equal(await drain(spool, stalled), expected.digest('hex'));
    await spool.dispose();
    assert.deepEqual([budget.memory.total, budget.disk.total], [0, 0]);
  });

  it('writes no file for a single reader that keeps up, and refuses further readers', async () => {
    const budget = new SpoolBudget();
    const spool = new Spool(budget, 'ada');
    const reader = spool.join();
    for (let index = 0; index < 64; index += 1) {
      await spool.write(piece(index, MEGABYTE));
      assert.equal((await spool.read(reader))?.length, MEGABYTE);
    }
    spool.finish();
    assert.equal(await spool.read(reader), null);
    assert.equal(budget.disk.total, 0);
    assert.equal(spool.isWhole, false);
    assert.throws(() => spool.join());
    await spool.dispose();
  });

  it('gives readers all bytes before a failure, then the failure', async () => {
    const spool = new Spool(new SpoolBudget(), 'ada');
    const reader = spool.join();
    await spool.write(Buffer.from('written before'));
    spool.fail(new Error('failed'));
    assert.equal(String(await spool.read(reader)), 'written before');
    await assert.rejects(async () => spool.read(reader), { message: 'failed' });
  });

  it('writes to disk immediately when the process is short of memory', async () => {
    const budget = new SpoolBudget();
    budget.memory.add('others', SYNC_LIMITS.spoolsMemoryBytesMax + 1);
    const spool = new Spool(budget, 'ada');
    const readers = [spool.join(), spool.join()];
    for (let index = 0; index < 16; index += 1) {
      await spool.write(piece(index, MEGABYTE));
      await turn();
    }
    spool.finish();
    const [one, other] = await Promise.all(readers.map((reader) => drain(spool, reader)));
    assert.equal(one, other);
    assert.ok(budget.disk.total > 0);
    await spool.dispose();
  });

  it('fails once at its bound of disk, and keeps the error line that follows [never.unbounded]', async () => {
    const budget = new SpoolBudget();
    budget.disk.add('others', SYNC_LIMITS.spoolsDiskBytesMax + 1);
    const spool = new Spool(budget, 'ada');
    const reader = spool.join();
    spool.join();
    const fill = async (): Promise<void> => {
      for (let index = 0; index < 64; index += 1) await spool.write(piece(index, MEGABYTE));
    };
    await assert.rejects(fill, { name: 'SpoolFull' });
    await spool.write(Buffer.from('error line'));
    spool.fail(new Error('full'));
    let last: Buffer | null = null;
    await assert.rejects(async () => {
      for (;;) last = (await spool.read(reader)) ?? last;
    });
    assert.equal(String(last), 'error line');
    await spool.dispose();
    assert.equal(budget.memory.total, 0);
  });
});

describe('the budget of spools', () => {
  it('leaves space for others: a slow reader with a quarter of it starts nothing more, and one with half of it is stopped [never.unbounded]', async () => {
    const budget = new SpoolBudget({ answers: 100, memoryBytes: MEGABYTE, diskBytes: 32 * MEGABYTE });
    const slow = async (person: string): Promise<Spool> => {
      const spool = new Spool(budget, person);
      spool.join();
      spool.join();
      const before = budget.disk.of(person);
      for (let index = 0; index < 4; index += 1) await spool.write(piece(index, MEGABYTE));
      await eventually(() => budget.disk.of(person) >= before + 3 * MEGABYTE);
      spool.finish();
      return spool;
    };
    const spools: Spool[] = [];
    while (budget.admit('ada') !== undefined) spools.push(await slow('ada'));
    assert.ok(spools.length >= 2 && spools.length <= 3, `${spools.length} answers`);
    assert.ok(budget.disk.of('ada') <= 12 * MEGABYTE);
    assert.ok(budget.admit('bob'));
    spools.push(await slow('bob'));

    const huge = new Spool(budget, 'ada');
    huge.join();
    huge.join();
    await assert.rejects(
      async () => {
        for (let index = 0; index < 64; index += 1) await huge.write(piece(index, MEGABYTE));
      },
      { name: 'SpoolFull' },
    );
    assert.ok(budget.disk.of('ada') <= 17 * MEGABYTE + SYNC_LIMITS.spoolMemoryBytes);
    // When it is tight, the person over their share gets less time.
    assert.ok(budget.stalledMs('ada') < SERVICE_LIMITS.answerStalledMs);
    for (const spool of [...spools, huge]) await spool.dispose();
    assert.deepEqual([budget.memory.total, budget.disk.total, budget.disk.of('ada')], [0, 0, 0]);
    assert.equal(budget.stalledMs('ada'), budget.stalledMs('bob'));
    assert.ok(budget.admit('ada'));
  });

  it('counts a shared spool for a person who still reads it', async () => {
    const budget = new SpoolBudget();
    const spool = new Spool(budget, 'ada');
    await spool.write(piece(0, MEGABYTE));
    assert.equal(budget.memory.of('ada'), MEGABYTE);
    spool.passTo('bob');
    await spool.write(piece(1, MEGABYTE));
    assert.deepEqual([budget.memory.of('ada'), budget.memory.of('bob')], [0, 2 * MEGABYTE]);
    await spool.dispose();
    assert.equal(budget.memory.of('bob'), 0);
  });

  it('admits at most a quarter of all answers for one person', () => {
    const budget = new SpoolBudget();
    const own = Array.from({ length: SYNC_LIMITS.snapshotAnswersMax / 4 }, () => budget.admit('ada'));
    assert.ok(own.every((one) => one !== undefined));
    assert.equal(budget.admit('ada'), undefined);
    assert.ok(budget.admit('bob'));
    for (const one of own.slice(0, 2)) one?.[Symbol.dispose]();
    assert.ok(budget.admit('ada'));
  });
});
