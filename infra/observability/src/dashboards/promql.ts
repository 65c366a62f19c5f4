/** Grafana chooses a range of at least four scrapes. */
const RANGE = '$__rate_interval';

export function rate(selector: string, by = ''): string {
  return `sum${by === '' ? '' : ` by (${by})`} (rate(${selector}[${RANGE}]))`;
}

/** Median and 99th percentile of a histogram, by legend. */
export function quantiles(name: string, selector = ''): Readonly<Record<string, string>> {
  return { p50: quantile(0.5, name, selector), p99: quantile(0.99, name, selector) };
}

export function quantile(share: number, name: string, selector = '', by = ''): string {
  const labels = by === '' ? 'le' : `le, ${by}`;
  return `histogram_quantile(${share}, ${rate(`${name}_bucket${selector}`, labels)})`;
}
