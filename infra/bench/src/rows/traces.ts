import { randomBytes } from 'node:crypto';
import { receiver } from '@wts/testkit';
import type { Dispatcher } from 'undici';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { cpuMsOfTrees } from '../cpu.ts';
import { GOALS } from '../goals.ts';
import { closedLoop } from '../load.ts';
import { atMost, ms, number, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import type { MeasuredSystem } from '../system.ts';
import { openClients, type Writer } from '../traffic.ts';
import { busyPeople, PEOPLE_SHAPES } from './people.ts';

const SHAPES = ['mutate 16x1', 'mutate 8x50', 'pages'] as const;

interface Cost {
  readonly perSecond: number;
  /** Of all processes of the system, the collector of traces not among them. */
  readonly cpuMs: number;
}

/** A system, and a person of it who writes, and one who reads. */
interface Loaded {
  readonly system: Pick<MeasuredSystem, 'testSystem' | 'ours'>;
  readonly people: readonly Writer[];
}

/**
 * What traces cost: a system without a collector beside one with it, where the gateway records one request of a hundred, or each,
 * because the client of the benchmark is one of its TRACE_PARENTS.
 */
export async function tracesRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { rounds, seconds, sizes, print, openOther } = context;
  await using collector = await receiver({ stores: false });
  let spans = 0;
  collector.answer(({ body }) => {
    spans += body.split('"startTimeUnixNano"').length - 1;
    return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  });
  await using tracing = await openOther({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACE_PARENTS: '127.0.0.1' });
  const [off, on] = [await loaded(context, sizes.people.tasks), await loaded(tracing, sizes.people.tasks)];
  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  for (const shape of SHAPES) {
    const contenders = {
      off: () => costOf(off, shape, { seconds }),
      some: () => costOf(on, shape, { seconds }),
      all: () => costOf(on, shape, { seconds, isRecorded: true }),
    };
    for (const warmUp of [off, on]) await costOf(warmUp, shape, { seconds: sizes.warmUpSeconds, isRecorded: true });
    const before = spans;
    const measured = await alternate<keyof typeof contenders, Cost>(rounds, contenders);
    raw[shape] = { ...measured, spans: spans - before };
    for (const [name, what, cpuRatioMax] of [
      ['some', 'one request of a hundred recorded', GOALS.traces.cpuRatioMax],
      ['all', 'every request recorded', null],
    ] as const) {
      const [own, other] = [median(measured[name], cpu), median(measured.off, cpu)];
      const ratio = ratioOf(measured[name].map(cpu), measured.off.map(cpu));
      rows.push({
        what: `CPU of ${shape}, ${what}`,
        ours: `${ms(own.cpuMs)}, ${number(own.perSecond)}/s`,
        against: `without traces ${ms(other.cpuMs)}, ${number(other.perSecond)}/s`,
        ...atMost(ratio, cpuRatioMax, 2),
      });
      print(`${rows.at(-1)?.what}: ${rows.at(-1)?.ratio}`);
    }
    print(`${shape}: the collector received ${number(spans - before)} spans`);
  }
  return { rows, raw };
}

const cpu = ({ cpuMs }: Cost): number => cpuMs;

async function loaded(system: Loaded['system'], tasks: number): Promise<Loaded> {
  return { system, people: await busyPeople(system.ours, { people: [2], tasks }) };
}

interface Load {
  readonly seconds: number;
  readonly isRecorded?: boolean;
}

async function costOf(
  { system: { testSystem, ours }, people }: Loaded,
  shape: (typeof SHAPES)[number],
  { seconds, isRecorded = false }: Load,
): Promise<Cost> {
  const { clients, writes, call } = PEOPLE_SHAPES[shape];
  const [writer, reader] = people;
  const person = writes ? writer : reader;
  if (person === undefined) throw new Error('there is no person');
  await using pool = openClients(ours.baseUrl, clients);
  const caller = isRecorded ? pool.compose(record) : pool;
  const { services, postgres, nats } = testSystem;
  const roots = [...services.flatMap(({ pid }) => pid ?? []), postgres.pid(), nats.pid()];
  const [beforeMs, startedMs] = [cpuMsOfTrees(roots), performance.now()];
  const { perSecond } = await closedLoop(clients, seconds, () => call(caller, person));
  const operations = (perSecond * (performance.now() - startedMs)) / 1000;
  return { perSecond, cpuMs: (cpuMsOfTrees(roots) - beforeMs) / operations };
}

/** A proxy that decides that each request is recorded. */
const record: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const ids = randomBytes(24).toString('hex');
  const traceparent = `00-${ids.slice(0, 32)}-${ids.slice(32)}-01`;
  return dispatch({ ...options, headers: { ...(options.headers as object), traceparent } }, handler);
};
