import { PUBLIC_BLOCKS } from '@wts/contracts';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../layout.ts';
import { REMOVED } from './removed.ts';
import { chartRows } from './rows.ts';
import { valuesSchema } from './schema.ts';
import { valuesFile } from './values-file.ts';
import { valuesPage } from './values-page.ts';

const CHART = 'infra/chart';
const OBSERVABILITY = 'infra/observability';

/** The generated files of the chart, by their path in the repository. */
export async function chartFiles(): Promise<readonly (readonly [string, string])[]> {
  const rows = await chartRows();
  return [
    [`${CHART}/files/services.json`, json(rows)],
    [`${CHART}/files/removed.json`, json(REMOVED)],
    [`${CHART}/files/public-addresses.json`, json(PUBLIC_BLOCKS)],
    ...(await copies()),
    [`${CHART}/values.yaml`, valuesFile()],
    [`${CHART}/values.md`, await valuesPage(rows)],
    [`${CHART}/values.schema.json`, await valuesSchema(rows)],
  ];
}

/** A chart reads only files below itself. */
async function copies(): Promise<readonly (readonly [string, string])[]> {
  const dashboards = await readdir(join(ROOT, OBSERVABILITY, 'dashboards'));
  const files = ['rules.yaml', ...dashboards.map((name) => `dashboards/${name}`)];
  return Promise.all(
    files.map(
      async (file) => [`${CHART}/files/${file}`, await readFile(join(ROOT, OBSERVABILITY, file), 'utf8')] as const,
    ),
  );
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}
