import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../test/scratch.ts';
import { LineWriter, readLines } from './line-files.ts';

const folder = scratch('lines');

describe('files of lines', () => {
  it('have the counts and the hash that their writer returns, and are read from every end of a line on', async () => {
    const path = join(folder, 'lines');
    const texts = ['{"title":"ü"}', '', 'x'.repeat(400_000), '{"title":"👍"}'];
    const writer = await LineWriter.open(path);
    for (const text of texts) await writer.write(text);
    const written = await writer.close({ isKept: true });
    const bytes = readFileSync(path);
    assert.deepEqual(written, {
      records: 4,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    const lines = (await Array.fromAsync(readLines(path))).flat();
    assert.deepEqual(
      lines.map(({ text }) => text),
      texts,
    );
    for (const [index, { end }] of lines.entries()) {
      const rest = (await Array.fromAsync(readLines(path, end))).flat();
      assert.deepEqual(rest, lines.slice(index + 1));
    }
  });

  it('have no last line without its end', async () => {
    const path = join(folder, 'half');
    writeFileSync(path, 'whole\nhal');
    assert.deepEqual(
      (await Array.fromAsync(readLines(path))).flat().map(({ text }) => text),
      ['whole'],
    );
  });

  it('say in one sentence that the disk is full', async function diskFull() {
    if (!existsSync('/dev/full')) return this.skip();
    const writer = await LineWriter.open('/dev/full');
    await writer.write('a record');
    await assert.rejects(
      writer.close({ isKept: true }),
      /^CliFault: The disk is full: \/dev\/full could not be written\.$/,
    );
  });
});
