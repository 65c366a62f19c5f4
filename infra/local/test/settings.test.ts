import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatedFiles } from '../src/generated-files.ts';
import { ROOT } from '../src/layout.ts';

describe('what npm run settings writes', () => {
  it('lists every setting of every service, and every user of NATS with its permissions and password', async () => {
    for (const [file, text] of await generatedFiles())
      assert.equal(await readFile(join(ROOT, file), 'utf8'), text, `to update ${file}: npm run settings`);
  });
});
