import assert from 'node:assert/strict';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scratch } from '../test/scratch.ts';
import { makeFolder } from './make-folder.ts';

describe('a folder', () => {
  it('is made with those above it, twice without harm, and refused where the system has none', async () => {
    const base = scratch('folder');
    const inner = join(base, 'a/b');
    for (const _ of [1, 2]) await makeFolder(inner, 0o700);
    assert.equal((await stat(inner)).mode & 0o777, 0o700);
    await writeFile(join(base, 'file'), '');
    for (const wrong of [join(base, 'file'), join(base, 'file/below'), '/proc/none/below'])
      await assert.rejects(makeFolder(wrong), wrong);
  });
});
