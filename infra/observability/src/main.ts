/** `npm run observability`: writes the dashboards and the list of metrics, or checks rules and dashboards with promtool. */
import { optionsOrExit, readStackFile, runTask, SERVICES } from '@wts/local';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { catalog } from './catalog.ts';
import { FOLDER, generatedFiles, METRICS } from './files.ts';
import { check } from './promtool.ts';

const USAGE = `npm run observability [-- options]

Writes infra/observability/dashboards again; and metrics.md, while npm start runs, because its processes list their metrics.

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
  const running = readStackFile();
  if (running === null) {
    console.log('infra/observability/metrics.md stays as it is: npm start does not run.');
    return 0;
  }
  const services = SERVICES.map(({ name }) => ({ name, metricsUrl: running.services[name]?.metrics ?? '' }));
  await writeFile(METRICS, await catalog(services));
  console.log('Wrote infra/observability/metrics.md');
  return 0;
});
