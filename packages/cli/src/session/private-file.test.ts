import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../test/scratch.ts';
import { writePrivate, writeSecret } from './private-file.ts';

describe('a private file', () => {
  const folder = scratch('files');

  it('is replaced as a whole by one that only its owner can read, in a folder that is closed to others', async () => {
    const inner = join(folder, 'open');
    mkdirSync(inner, { mode: 0o755 });
    const path = join(inner, 'a.json');
    writeFileSync(path, 'an earlier and longer content', { mode: 0o644 });
    await writeSecret(path, 'new');
    assert.equal(readFileSync(path, 'utf8'), 'new');
    assert.deepEqual([statSync(path).mode & 0o777, statSync(inner).mode & 0o777], [0o600, 0o700]);
  });

  it('stays as it was, without a rest, when it cannot be written', async () => {
    const path = join(folder, 'b');
    mkdirSync(path);
    await assert.rejects(writePrivate(path, 'new'), /cannot be written \(EISDIR\)/);
    await assert.rejects(writePrivate(join(path, 'x'.repeat(300)), 'new'), /cannot be written/);
    assert.deepEqual(readdirSync(folder).toSorted(), ['b', 'open']);
  });
});
