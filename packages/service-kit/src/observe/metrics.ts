import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type LabelValues } from 'prom-client';

/** The buckets of times of requests, in seconds. Most replies take under 5 ms; callers give up after the largest. */
export const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface RequestMetrics {
  /** `route` is the id of a contract, never a path: the number of series must not depend on callers. */
  observe(route: string, method: string, status: number, seconds: number): void;
  /** `code` is that of the fault, from the closed list. */
  refused(code: string): void;
}

export function createMetrics(
  service: string,
  build: { readonly version: string; readonly commit: string },
): { registry: Registry; requests: RequestMetrics } {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  const { counter, gauge, histogram } = metricsOf(registry);
  const buildHelp = 'Always 1. The labels are the version and the commit of this process.';
  gauge('wts_build_info', buildHelp, 'version', 'commit').set({ ...build }, 1);
  const durations = histogram(
    'wts_http_request_duration_seconds',
    'Time from the first byte of a request to the last byte of its answer.',
    REQUEST_SECONDS,
    'route',
    'method',
    'status',
  );
  const refusals = counter(
    'wts_refusals_total',
    'Requests that this service answered with an error of its own, by the code.',
    'code',
  );
  // Labels are resolved once per series, because resolving them costs more than observing.
  const series = new Map<string, ReturnType<typeof durations.labels>>();
  return {
    registry,
    requests: {
      observe(route, method, status, seconds) {
        const key = `${route} ${method} ${status}`;
        let one = series.get(key);
        if (one === undefined) {
          one = durations.labels({ route, method, status: String(status) });
          series.set(key, one);
        }
        one.observe(seconds);
      },
      refused: (code) => refusals.inc({ code }),
    },
  };
}

/** Gauges of the connections of a process, and their bound. */
export function watchConnections(
  registry: Registry,
  connections: { readonly open: number; readonly max: number },
): void {
  const { watch } = metricsOf(registry);
  watch('wts_http_connections', 'Open connections of callers, sockets among them.', () => connections.open);
  watch('wts_http_connections_max', 'Connections taken before new ones are turned away.', () => connections.max);
}

/** Declares metrics of a registry: their names, their sentences in the catalog, and their labels. */
export function metricsOf(registry: Registry) {
  const registers = [registry];
  const watchSeries = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => Iterable<readonly [labels: LabelValues<L>, value: number]>,
  ): void => {
    void new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
  };
  return {
    counter: <L extends string = never>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <L extends string = never>(name: string, help: string, ...labelNames: L[]): Gauge<L> =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      ...labelNames: L[]
    ): Histogram<L> => new Histogram({ name, help, labelNames, buckets, registers }),
    /** A gauge whose value is read when the metrics are. */
    watch: (name: string, help: string, read: () => number): void => watchSeries(name, help, [], () => [[{}, read()]]),
    /** A gauge whose series are read when the metrics are. */
    watchSeries,
  };
}

/** A metric as the catalog describes it. */
export interface DescribedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

function catalogOf(registry: Registry): DescribedMetric[] {
  // Of the types of prom-client only the classes have these two.
  const metrics = registry.getMetricsAsArray() as unknown as readonly (DescribedMetric & { labelNames: string[] })[];
  return metrics.map(({ name, type, labelNames: labels, help }) => ({ name, type, labels, help }));
}

/** Of a service of one log: all its metrics have the number of the log. */
export function labelShard(
  { name, metrics }: { readonly name: string; readonly metrics: Registry },
  { shard }: { readonly shard: number },
): void {
  metrics.setDefaultLabels({ service: name, shard: String(shard) });
}

/**
 * Serves `/metrics` on a port of its own, which no balancer publishes, and `/metrics/catalog`, from which the list in
 * infra/observability is made. The metrics of the process are collected from the first scrape
 * on, because sampling the delay of the event loop is half of the CPU of an idle process.
 */
export async function serveMetrics(registry: Registry, host: string, port: number): Promise<Server> {
  let isCollecting = false;
  const server = createServer((req, res) => {
    if (req.method === 'GET' && req.url === '/metrics/catalog') {
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(catalogOf(registry)));
      return;
    }
    if (req.method !== 'GET' || req.url !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    if (!isCollecting) collectDefaultMetrics({ register: registry });
    isCollecting = true;
    registry.metrics().then(
      (text) => res.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => res.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}
