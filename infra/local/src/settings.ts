/** `npm run settings`: writes what is made from the code: `infra/settings.md`, the reference of the command line, the users of NATS with their guide, the roles of PostgreSQL, and parts of the chart. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readOptions } from './command-options.ts';
import { generatedFiles } from './generated-files.ts';
import { ROOT } from './layout.ts';
import { runTask } from './task.ts';

const USAGE = `npm run settings [-- --help]

Writes infra/settings.md, packages/cli/reference.md, infra/nats/users.conf, the table in infra/nats/README.md, values and files of infra/chart, and the roles in infra/postgres/roles.sql again. It has no options.`;

await runTask(async () => {
  if (readOptions(USAGE, {}) === null) return 0;
  for (const [file, text] of await generatedFiles()) {
    await mkdir(dirname(join(ROOT, file)), { recursive: true });
    await writeFile(join(ROOT, file), text);
    console.log(`Wrote ${file}`);
  }
  return 0;
});
