/** `npm run settings`: writes `infra/settings.md`, the reference of every setting of every service. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './layout.ts';
import { settingsReference } from './settings-reference.ts';
import { runTask } from './task.ts';

await runTask(async () => {
  const path = join(ROOT, 'infra', 'settings.md');
  await writeFile(path, await settingsReference());
  console.log(`Written: ${path}`);
  return 0;
});
