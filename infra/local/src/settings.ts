/** `npm run settings`: writes the reference of all settings, `infra/settings.md`, and the users of NATS, `infra/nats/users.conf`. */
import { natsUsersConfiguration } from '@wts/contracts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './layout.ts';
import { settingsReference } from './settings-reference.ts';
import { runTask } from './task.ts';

await runTask(async () => {
  for (const [file, text] of [
    ['settings.md', await settingsReference()],
    ['nats/users.conf', natsUsersConfiguration()],
  ] as const) {
    const path = join(ROOT, 'infra', file);
    await writeFile(path, text);
    console.log(`Wrote ${path}`);
  }
  return 0;
});
