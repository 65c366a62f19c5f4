import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../src/layout.ts';
import { settingsReference } from '../src/settings-reference.ts';

describe('infra/settings.md', () => {
  it('lists every setting of every service as it is', async function () {
    this.timeout(60_000);
    const page = await readFile(join(ROOT, 'infra', 'settings.md'), 'utf8');
    assert.equal(page, await settingsReference(), 'renew it: npm run settings');
  });
});
