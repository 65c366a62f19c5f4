import { REMOVED } from './removed.ts';
import { chartRows } from './rows.ts';
import { valuesSchema } from './schema.ts';
import { valuesFile } from './values-file.ts';

const CHART = 'infra/chart';

/** The generated files of the chart, by their path in the repository. */
export async function chartFiles(): Promise<readonly (readonly [string, string])[]> {
  const rows = await chartRows();
  return [
    [`${CHART}/files/services.json`, json(rows)],
    [`${CHART}/files/removed.json`, json(REMOVED)],
    [`${CHART}/values.yaml`, valuesFile()],
    [`${CHART}/values.schema.json`, await valuesSchema(rows)],
  ];
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}
