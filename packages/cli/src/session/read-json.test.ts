import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../test/scratch.ts';
import { readJson } from './read-json.ts';

describe('a file of settings', () => {
  const folder = scratch('settings');

  it('is a regular and short one: no named pipe, device or long file is read', async () => {
    const [pipe, device, long, short] = ['pipe', 'device', 'long', 'short'].map((name) => join(folder, name));
    assert.ok(pipe !== undefined && device !== undefined && long !== undefined && short !== undefined);
    execFileSync('mkfifo', [pipe]);
    symlinkSync('/dev/zero', device);
    writeFileSync(long, `"${'x'.repeat(65_536)}"`);
    writeFileSync(short, '{"a":1}');
    for (const path of [pipe, device]) await assert.rejects(readJson(path), /cannot be read: it is no regular file/);
    await assert.rejects(readJson(long), /cannot be read: it has more than 65536 bytes/);
    assert.deepEqual(await readJson(short), { a: 1 });
    assert.equal(await readJson(join(folder, 'none')), null);
  });
});
