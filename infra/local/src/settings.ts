/** `npm run settings`: writes what is made from the code: `infra/settings.md`, the reference of the command line, the users of NATS with their guide, the roles of PostgreSQL, and parts of the chart. */
import { natsUsersConfiguration, streamOf } from '@wts/contracts';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readOptions } from './command-options.ts';
import { generatedFiles } from './generated-files.ts';
import { ROOT } from './layout.ts';
import { runTask } from './task.ts';

const USAGE = `npm run settings [-- options]

Writes infra/settings.md, packages/cli/reference.md, infra/nats/users.conf, the table in infra/nats/README.md, values and files of infra/chart, and the roles in infra/postgres/roles.sql again. 

  --nats-users N   print the users of NATS for log N (SHARD=N) instead`;

await runTask(async () => {
  const values = readOptions(USAGE, { 'nats-users': { type: 'string' } });
  if (values === null) return 0;
  const { 'nats-users': shard } = values;
  if (shard !== undefined) {
    process.stdout.write(natsUsersConfiguration(streamOf(Number(shard))));
    return 0;
  }
  for (const [file, text] of await generatedFiles()) {
    await mkdir(dirname(join(ROOT, file)), { recursive: true });
    await writeFile(join(ROOT, file), text);
    console.log(`Wrote ${file}`);
  }
  return 0;
});
