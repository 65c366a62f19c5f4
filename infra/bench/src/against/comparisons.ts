import type { BenchmarkName } from '../benchmarks.ts';
import { cpuMsOfTrees, treeOf } from '../cpu.ts';
import { GOALS } from '../goals.ts';
import { residentMb } from '../memory.ts';
import { ALONE } from '../rows/alone.ts';
import { load } from '../rows/bootstrap.ts';
import { readPages } from '../rows/deltas.ts';
import { fanOut } from '../rows/fanout.ts';
import { readLoop } from '../rows/hop.ts';
import { measureLatency } from '../rows/live.ts';
import { measureMissing } from '../rows/missing.ts';
import { writeLoop } from '../rows/mutate.ts';
import { busyPeople, PEOPLE_SHAPES, rateOf } from '../rows/people.ts';
import type { Sizes } from '../sizes.ts';
import type { Version } from './version.ts';

/** One measured number of one version. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: '/s' | ' ms' | ' MB';
  /** Of the ratio ours/theirs. */
  readonly ratioMin?: number;
}

/** Prepares a version once, and returns what each round measures. */
type Open = (version: Version, sizes: Sizes) => Promise<(seconds: number) => Promise<readonly Figure[]>>;

interface Comparison {
  readonly of: BenchmarkName;
  readonly what: string;
  readonly open: Open;
}

const LIVE_PER_SECOND = 200;
const READERS = 32;
const PEOPLE = 4;

const rate = (what: string, { perSecond }: { readonly perSecond: number }): Figure => ({
  what,
  value: perSecond,
  unit: '/s',
});
const time = (what: string, value: number): Figure => ({ what, value, unit: ' ms' });

/** What `--against` compares, under the names of the benchmarks. */
export const COMPARISONS: readonly Comparison[] = [
  // First, while the system is idle.
  {
    of: 'memory',
    what: 'resident memory',
    open:
      async ({ rootPid }) =>
      async () => [
        // The first two processes are those of `npm start`.
        { what: 'resident memory of the system', value: residentMb(treeOf(rootPid).slice(2)), unit: ' MB' },
      ],
  },
  ...[
    { clients: 16, batch: 1 },
    { clients: 8, batch: 50 },
  ].map(({ clients, batch }) => ({
    of: 'mutate' as const,
    what: `mutate ${clients}x${batch}`,
    open: (async (version) => async (seconds) => [
      { ...rate(`mutate ${clients}x${batch}`, await writeLoop(version, clients, batch, seconds)), ...GOALS.against },
    ]) satisfies Open,
  })),
  {
    of: 'alone',
    what: 'one change alone',
    open:
      async (version, { warmUpSeconds }) =>
      async (seconds) => {
        const cpuMs = (): number => cpuMsOfTrees([version.rootPid]);
        const { cpuMsPerChange, fromSend } = await measureLatency(version, { ...ALONE, seconds, warmUpSeconds, cpuMs });
        const what = `one change alone, ${ALONE.sockets} sockets`;
        return [time(`${what}, CPU of the system`, cpuMsPerChange ?? Number.NaN), time(`${what}, p50`, fromSend.p50Ms)];
      },
  },
  {
    of: 'missing',
    what: 'actions to live sockets',
    open: async (version) => async (seconds) => {
      const { expected, missing, doubled, disordered } = await measureMissing(version.databaseUrl, version, seconds);
      if (missing + doubled + disordered > 0)
        throw new Error(`${missing} actions are missing, ${doubled} doubled, ${disordered} out of order`);
      return [rate('actions to live sockets of 32 writers, none missing', { perSecond: expected / seconds })];
    },
  },
  {
    of: 'live',
    what: 'request -> socket',
    open:
      async (version, { warmUpSeconds }) =>
      async (seconds) => {
        const { fromSend } = await measureLatency(version, { perSecond: LIVE_PER_SECOND, seconds, warmUpSeconds });
        const what = `request -> socket at ${LIVE_PER_SECOND}/s`;
        return [time(`${what}, p50`, fromSend.p50Ms), time(`${what}, p99`, fromSend.p99Ms)];
      },
  },
  {
    of: 'bootstrap',
    what: 'bootstrap',
    open: async (version, { bootstrapTasks, bootstrapMs: forMs }) => {
      const all = { rowsMin: bootstrapTasks, forMs };
      await version.seedTasks(bootstrapTasks);
      return async () => [
        rate('bootstrap, one client, rows', await load(version, 1, all)),
        rate('bootstrap, ten clients, rows', await load(version, 10, all)),
      ];
    },
  },
  {
    of: 'fanout',
    what: 'actions to many sockets',
    open:
      async (version, { fanout }) =>
      async () => [rate(`actions to ${fanout.sockets} sockets, through the gateway`, await fanOut(version, fanout))],
  },
  {
    of: 'deltas',
    what: 'delta pages',
    open: async (version, { deltas: { page }, statisticsMs }) => {
      const log = await version.growLog(5 * page, statisticsMs);
      return async (seconds) => [
        time(`delta page of ${page}, p50`, (await readPages(version, log, { groups: 1, page, seconds })).p50Ms),
      ];
    },
  },
  {
    of: 'hop',
    what: 'small reads',
    open:
      async ({ baseUrl, apiKey }) =>
      async (seconds) => {
        const read = (clients: number) =>
          readLoop(baseUrl, { authorization: `Bearer ${apiKey}` }, { clients, seconds: seconds / 2 });
        return [
          time('small read, one client, p50', (await read(1)).p50Ms),
          { ...rate(`small read, ${READERS} clients`, await read(READERS)), ...GOALS.against },
        ];
      },
  },
  ...Object.entries(PEOPLE_SHAPES).map(([name, shape]) => ({
    of: 'people' as const,
    what: `${name} of ${PEOPLE} people`,
    open: (async (version, sizes) => {
      const people = await busyPeople(version, { ...sizes.people, people: [PEOPLE] });
      return async (seconds) => [
        rate(`${name} of ${PEOPLE} people`, {
          perSecond: await rateOf(version.baseUrl, people, { ...shape, seconds }),
        }),
      ];
    }) satisfies Open,
  })),
];

/** Why a benchmark is not compared. */
export const NOT_COMPARED: Readonly<Partial<Record<BenchmarkName, string>>> = {
  stalled: 'it needs the inspector of Node in each process',
  neighbor: 'it compares each attack with the same system without it',
  webhooks: 'it writes to the tables of the dispatcher',
  follower: 'it compares with the same system without a dispatcher',
  graphql: 'it calls the graph service directly; "people" compares GraphQL through the gateway',
  growth: 'it is a series of the benchmarks above',
};
