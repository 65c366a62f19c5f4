/** The JSON of a Grafana dashboard, from what differs between ours. Only the properties are written that Grafana has no default for. */

export interface Dashboard {
  /** In its address; the name of its file is the same. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly rows: readonly Row[];
}

export interface Row {
  readonly title: string;
  readonly graphs: readonly Graph[];
}

export interface Graph {
  readonly title: string;
  /** Says what is normal, or where to look. */
  readonly description?: string;
  readonly unit: 'bytes' | 'percentunit' | 'reqps' | 'ops' | 's' | 'short';
  /** PromQL by legend: `{{label}}` is the value of a label. `graphsOf` adds the namespace to every selector. */
  readonly queries: Readonly<Record<string, string>>;
}

const COLUMNS = 24;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

export function grafanaJson({ uid, title, description, rows }: Dashboard): string {
  let id = 0;
  let y = 0;
  const panels: object[] = [];
  for (const row of rows) {
    panels.push({
      id: (id += 1),
      type: 'row',
      title: row.title,
      panels: [],
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
    });
    y += 1;
    const perLine = Math.min(3, row.graphs.length);
    const w = COLUMNS / perLine;
    for (const [index, graph] of row.graphs.entries()) {
      const gridPos = { x: (index % perLine) * w, y: y + Math.floor(index / perLine) * HEIGHT, w, h: HEIGHT };
      panels.push({ id: (id += 1), ...panelOf(graph), gridPos });
    }
    y += Math.ceil(row.graphs.length / perLine) * HEIGHT;
  }
  const dashboard = {
    uid,
    title,
    description,
    tags: ['workspace-task-service'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [DATASOURCES, NAMESPACES] },
    links: [
      { type: 'dashboards', title: 'Others', tags: ['workspace-task-service'], asDropdown: true, keepTime: true },
    ],
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

const DATASOURCES = { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' };

/** A Prometheus outside of a cluster has no label `namespace`; `.*` selects what lacks it, too. */
const NAMESPACES = {
  name: 'namespace',
  label: 'Namespace',
  type: 'query',
  datasource: DATASOURCE,
  query: 'label_values(wts_build_info, namespace)',
  definition: 'label_values(wts_build_info, namespace)',
  refresh: 2,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
};

function panelOf({ title, description, unit, queries }: Graph): object {
  return {
    type: 'timeseries',
    title,
    ...(description === undefined ? {} : { description }),
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 8, showPoints: 'never' } }, overrides: [] },
    options: { tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
      refId: String.fromCodePoint(65 + index),
      expr: ofNamespace(expr),
      legendFormat,
    })),
  };
}

const SELECTOR = /\b((?:wts|nodejs|process)_\w+)(\{)?/g;

/** Several installations may share a Prometheus. */
function ofNamespace(expr: string): string {
  return expr.replaceAll(SELECTOR, (_all, name: string, brace?: string) =>
    brace === undefined ? `${name}{namespace=~"$namespace"}` : `${name}{namespace=~"$namespace", `,
  );
}
