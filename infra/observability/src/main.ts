/** `npm run observability`: writes the dashboards, or checks rules and dashboards with promtool. */
import { optionsOrExit, runTask } from '@wts/local';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FOLDER, generatedFiles } from './files.ts';
import { check } from './promtool.ts';

const USAGE = `npm run observability [-- options]

Writes infra/observability/dashboards again.

  --check    check the alert rules, run their tests, and check every expression of the dashboards, with promtool of Prometheus`;

const options = optionsOrExit(USAGE, { check: { type: 'boolean', default: false } });

await runTask(async () => {
  if (options.check) {
    await check();
    return 0;
  }
  for (const [file, text] of generatedFiles()) {
    await writeFile(join(FOLDER, file), text);
    console.log(`Wrote infra/observability/${file}`);
  }
  return 0;
});
