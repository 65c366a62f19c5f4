import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seriesOf } from './catalog.ts';
import { changeDashboard } from './dashboards/change.ts';
import { grafanaJson } from './dashboards/grafana.ts';
import { serviceDashboards } from './dashboards/services.ts';

export const FOLDER = join(import.meta.dirname, '..');
export const METRICS = join(FOLDER, 'metrics.md');
export const RULES = join(FOLDER, 'rules.yaml');
export const RULE_TESTS = join(FOLDER, 'rules.test.yaml');

/** The files that `npm run observability` writes, by their path in this folder. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const list = readFileSync(METRICS, 'utf8');
  const dashboards = [changeDashboard, ...serviceDashboards((service) => seriesOf(list, service))];
  return new Map(dashboards.map((one) => [`dashboards/${one.uid}.json`, grafanaJson(one)]));
}
