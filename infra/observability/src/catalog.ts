/** The list of all metrics, from what processes say of themselves. */
import { collectDefaultMetrics, Registry } from 'prom-client';

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** A service, and where one of its processes serves its metrics. */
export interface MeteredService {
  readonly name: string;
  readonly metricsUrl: string;
}

const HEAD = `# Metrics

Every metric of a service has the label \`service\`. A histogram named \`x\` has the series \`x_bucket\`, \`x_sum\` and \`x_count\`. Besides these,
each process has those of Node and of itself: \`process_*\` and \`nodejs_*\` of [prom-client](https://github.com/siimon/prom-client). Generated
from a running system by \`npm run observability\`.

| metric | type | labels | services | is |
|---|---|---|---|---|
`;

export async function catalog(services: readonly MeteredService[]): Promise<string> {
  const rows = new Map<string, { metric: Metric; services: string[] }>();
  for (const { name, metricsUrl } of services) {
    const reply = await fetch(`${metricsUrl}/catalog`);
    for (const metric of (await reply.json()) as Metric[]) {
      // Those of the process, once they are collected.
      if (!metric.name.startsWith('wts_')) continue;
      const row = rows.get(metric.name) ?? { metric, services: [] };
      row.services.push(name);
      rows.set(metric.name, row);
    }
  }
  const lines = [...rows.values()]
    .toSorted((one, other) => (one.metric.name < other.metric.name ? -1 : 1))
    .map(({ metric: { name, type, labels, help }, services: found }) => {
      const of = found.length === services.length ? 'all' : found.join(', ');
      return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${of} | ${help.replaceAll('|', '\\|')} |`;
    });
  return `${HEAD}${lines.join('\n')}\n`;
}

const ROW = /^\| `(\w+)` \| (\w+) \| [^|]* \| ([^|]*) \|/gm;

/** The names of all series, of this list and of Node; or of one service only. */
export function seriesOf(list: string, service?: string): ReadonlySet<string> {
  const rows = [...list.matchAll(ROW)].filter(
    ([, , , services = '']) => service === undefined || services === 'all' || services.split(', ').includes(service),
  );
  const own = rows.flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const ofNode = registry.getMetricsAsArray().map(({ name }) => name);
  return new Set([...own, ...ofNode]);
}
