import assert from 'node:assert/strict';
import { natsUsersConfiguration } from '@wts/contracts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../src/layout.ts';
import { settingsReference } from '../src/settings-reference.ts';

describe('infra/nats/users.conf', () => {
  it('equals the permissions in packages/contracts', async () => {
    const text = await readFile(join(ROOT, 'infra', 'nats', 'users.conf'), 'utf8');
    assert.equal(text, natsUsersConfiguration(), 'to update it: npm run settings');
  });
});

describe('infra/settings.md', () => {
  it('lists every setting of every service', async function () {
    this.timeout(60_000);
    const page = await readFile(join(ROOT, 'infra', 'settings.md'), 'utf8');
    assert.equal(page, await settingsReference(), 'to update it: npm run settings');
  });
});
