/** The figures of the page, from what the processes serve at `/metrics`, with their course over the last minutes. */

export interface Target {
  /** A process, such as `sync` or `sync-2`. */
  readonly name: string;
  readonly metricsUrl: string;
}

export type Unit = 'per second' | 'seconds' | 'bytes' | 'share' | 'count';

export interface Figure {
  readonly title: string;
  readonly unit: Unit;
  /** The oldest first; null where nothing was measured. */
  readonly values: readonly (number | null)[];
}

export interface FigureGroup {
  readonly title: string;
  readonly figures: readonly Figure[];
}

interface Series {
  readonly labels: string;
  readonly value: number;
}

/** All series of all processes at one time, by their name. */
interface Sample {
  readonly atMs: number;
  readonly series: ReadonlyMap<string, readonly Series[]>;
}

const EVERY_MS = 2_000;
/** Five minutes. */
const VALUES_MAX = 150;
const BYTES_MAX = 4 * 1024 * 1024;
const TIMEOUT_MS = 1_500;
const LINE = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/;
const GATEWAY = 'service="gateway"';
const REQUESTS = 'wts_http_request_duration_seconds';

type Read = (now: Sample, before: Sample) => number | null;

const ROWS: readonly (readonly [group: string, title: string, unit: Unit, read: Read])[] = [
  ['Requests', 'Requests', 'per second', rate(`${REQUESTS}_count`, GATEWAY)],
  ['Requests', 'Answers with 5xx', 'share', shareOf(`${REQUESTS}_count`, GATEWAY, 'status="5')],
  ['Requests', 'Time, 99 of 100', 'seconds', quantile(0.99, REQUESTS, GATEWAY)],
  ['Changes', 'Changes', 'per second', rate('wts_commit_mutations_total')],
  ['Changes', 'Time of a batch, half of them', 'seconds', quantile(0.5, 'wts_commit_batch_duration_seconds')],
  ['Changes', 'Time of a batch, 99 of 100', 'seconds', quantile(0.99, 'wts_commit_batch_duration_seconds')],
  ['Changes', 'Entries into the stream', 'per second', rate('wts_relay_entries_total')],
  ['Sockets', 'Open sockets', 'count', sum('wts_socket_connections')],
  ['Sockets', 'Entries sent', 'per second', rate('wts_socket_entries_total')],
  ['Sockets', 'Commit to socket, 99 of 100', 'seconds', quantile(0.99, 'wts_socket_lag_seconds')],
  ['Webhooks', 'Attempts', 'per second', rate('wts_webhooks_attempt_seconds_count')],
  ['Webhooks', 'Failed attempts', 'share', shareOf('wts_webhooks_attempt_seconds_count', '', 'outcome="(?!success)')],
  [
    'Webhooks',
    'Commit to first attempt, 99 of 100',
    'seconds',
    quantile(0.99, 'wts_webhooks_first_attempt_delay_seconds'),
  ],
  ['Processes', 'CPU, in cores', 'count', rate('process_cpu_seconds_total')],
  ['Processes', 'Resident memory', 'bytes', sum('process_resident_memory_bytes')],
  ['Processes', 'Connections to PostgreSQL in use', 'count', sum('wts_postgres_connections', 'state="used"')],
];

export class Figures implements Disposable {
  readonly #values = ROWS.map((): (number | null)[] => []);
  readonly #timer: NodeJS.Timeout;
  #last: Sample | null = null;
  #unreachable: readonly string[] = [];

  constructor(targets: () => readonly Target[]) {
    let isUnderWay = false;
    this.#timer = setInterval(() => {
      if (isUnderWay) return;
      isUnderWay = true;
      void this.measure(targets()).finally(() => (isUnderWay = false));
    }, EVERY_MS).unref();
  }

  /** Processes whose metrics could not be read last. */
  get unreachable(): readonly string[] {
    return this.#unreachable;
  }

  get groups(): readonly FigureGroup[] {
    const figures = ROWS.map(([group, title, unit], index) => ({
      group,
      title,
      unit,
      values: this.#values[index] ?? [],
    }));
    return [...Map.groupBy(figures, ({ group }) => group)].map(([title, own]) => ({ title, figures: own }));
  }

  async measure(targets: readonly Target[]): Promise<void> {
    const series = new Map<string, Series[]>();
    const read = await Promise.allSettled(
      targets.map(async (target) => addSeries(series, target, await scrape(target))),
    );
    this.#unreachable = targets.filter((_, index) => read[index]?.status === 'rejected').map(({ name }) => name);
    const now: Sample = { atMs: performance.now(), series };
    for (const [index, [, , , figure]] of ROWS.entries()) {
      const values = this.#values[index];
      values?.push(this.#last === null ? null : figure(now, this.#last));
      if (values !== undefined && values.length > VALUES_MAX) values.shift();
    }
    this.#last = now;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

async function scrape({ metricsUrl }: Target): Promise<string> {
  const reply = await fetch(metricsUrl, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await reply.text();
  if (!reply.ok || text.length > BYTES_MAX) throw new Error(`${metricsUrl} is answered with ${reply.status}`);
  return text;
}

function addSeries(series: Map<string, Series[]>, { name: process }: Target, text: string): void {
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = line.startsWith('#') ? [] : (LINE.exec(line) ?? []);
    if (name === undefined) continue;
    const found = series.get(name) ?? [];
    found.push({ labels: `${labels},process="${process}"`, value: Number(value) });
    series.set(name, found);
  }
}

function sum(name: string, with_ = ''): Read {
  return ({ series }) => totalOf(series.get(name), with_);
}

/** A process that started again counts from zero. */
function rate(name: string, with_ = '', part = /^/): Read {
  return (now, before) => {
    const [to, from] = [totalOf(now.series.get(name), with_, part), totalOf(before.series.get(name), with_, part)];
    return to === null || from === null ? null : Math.max(0, to - from) / ((now.atMs - before.atMs) / 1000);
  };
}

function shareOf(name: string, with_: string, part: string): Read {
  const [all, some] = [rate(name, with_), rate(name, with_, new RegExp(part))];
  return (now, before) => {
    const whole = all(now, before);
    return whole === null || whole === 0 ? null : (some(now, before) ?? 0) / whole;
  };
}

/** The bound of the bucket in which this share of the measurements since the sample before is reached. */
function quantile(share: number, name: string, with_ = ''): Read {
  return (now, before) => {
    const [to, from] = [now, before].map(({ series }) => bucketsOf(series.get(`${name}_bucket`), with_));
    const counts = [...(to ?? [])].map(([bound, count]) => [bound, count - (from?.get(bound) ?? 0)] as const);
    const all = counts.find(([bound]) => bound === Infinity)?.[1] ?? 0;
    if (all <= 0) return null;
    const reached = counts.toSorted(([one], [other]) => one - other).find(([, count]) => count >= share * all);
    const bound = reached?.[0];
    return bound === undefined || bound === Infinity ? null : bound;
  };
}

const BOUND = /\ble="([^"]*)"/;

function bucketsOf(series: readonly Series[] = [], with_: string): ReadonlyMap<number, number> {
  const buckets = new Map<number, number>();
  for (const { labels, value } of series) {
    if (!labels.includes(with_)) continue;
    const bound = Number((BOUND.exec(labels)?.[1] ?? '').replace('+Inf', 'Infinity'));
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return buckets;
}

function totalOf(series: readonly Series[] | undefined, with_: string, part = /^/): number | null {
  const found = series?.filter(({ labels }) => labels.includes(with_) && part.test(labels));
  return found === undefined ? null : found.reduce((total, { value }) => total + value, 0);
}
