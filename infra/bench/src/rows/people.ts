import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { GOALS } from '../goals.ts';
import { closedLoop } from '../load.ts';
import { atLeast, number, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import type { Sizes } from '../sizes.ts';
import { mutate, openClients, type Requester, type Writer } from '../traffic.ts';

const BATCH = 50;
const PAGE = 1_000;
const TASKS_QUERY =
  'query ($w: ID!) { tasks(first: 20, filter: { workspaceId: { eq: $w } }) { nodes { id title number } } }';

interface Shape {
  readonly clients: number;
  /** Whether the workspaces of its people grow. */
  readonly writes: boolean;
  /** Returns its number of operations. */
  readonly call: (pool: Requester, writer: Writer) => Promise<number>;
}

/** What people do at once. There are at least as many clients as people. */
export const PEOPLE_SHAPES = {
  'mutate 16x1': {
    clients: 16,
    writes: true,
    call: async (pool, writer) => (await mutate(pool, writer, 1)).results.length,
  },
  'mutate 8x50': {
    clients: 8,
    writes: true,
    call: async (pool, writer) => (await mutate(pool, writer, BATCH)).results.length,
  },
  pages: {
    clients: 16,
    writes: false,
    call: (pool, writer) => read(pool, writer, `/sync/deltas?after=0&limit=${PAGE}`),
  },
  snapshots: {
    clients: 16,
    writes: false,
    call: (pool, writer) => read(pool, writer, '/sync/bootstrap?onlyModels=Task'),
  },
  GraphQL: {
    clients: 16,
    writes: false,
    call: (pool, writer) =>
      read(pool, writer, '/graphql', { query: TASKS_QUERY, variables: { w: writer.workspaceId } }),
  },
} satisfies Readonly<Record<string, Shape>>;

/**
 * The rate of several busy people together, each in a workspace of their own, beside one person with as many clients. Those who read
 * are others than those who write: the workspace of the one who wrote alone grows most, and with it each answer.
 */
export async function peopleRows({ ours, rounds, seconds, sizes, print }: BenchmarkContext): Promise<BenchmarkResult> {
  const [writers, readers] = [await busyPeople(ours, sizes.people), await busyPeople(ours, sizes.people)];
  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries<Shape>(PEOPLE_SHAPES)) {
    const people = shape.writes ? writers : readers;
    for (const count of sizes.people.people) {
      const clients = Math.max(shape.clients, count);
      const load = { ...shape, clients, seconds };
      await rateOf(ours.baseUrl, people.slice(0, count), { ...load, seconds: sizes.warmUpSeconds });
      const measured = await alternate<'several' | 'one', number>(rounds, {
        several: () => rateOf(ours.baseUrl, people.slice(0, count), load),
        one: () => rateOf(ours.baseUrl, people.slice(0, 1), load),
      });
      const ratio = ratioOf(measured.several, measured.one);
      const what = `${name} of ${count} people, ${clients} clients`;
      raw[what] = measured;
      rows.push({
        what,
        ours: `${number(median(measured.several, (one) => one))}/s`,
        against: `one person ${number(median(measured.one, (one) => one))}/s`,
        ...atLeast(ratio, GOALS.people.ratioMin, 2),
      });
      print(`${what}: ${rows.at(-1)?.ratio}`);
    }
  }
  return { rows, raw };
}

/** People with so many tasks each. */
export async function busyPeople(
  { name, baseUrl, people }: { readonly name: string; readonly baseUrl: string; readonly people?: PeopleMaker },
  { people: counts, tasks }: Sizes['people'],
): Promise<readonly Writer[]> {
  if (people === undefined) throw new Error(`${name} has one person only`);
  const all = await people(Math.max(...counts));
  await using pool = openClients(baseUrl, 1);
  for (const one of all) for (let left = tasks; left > 0; left -= BATCH) await mutate(pool, one, Math.min(left, BATCH));
  return all;
}

type PeopleMaker = (count: number) => Promise<readonly Writer[]>;

/** Operations per second of all people; the clients belong to them in turn. */
export async function rateOf(
  baseUrl: string,
  people: readonly Writer[],
  { clients, call, seconds }: Shape & { readonly seconds: number },
): Promise<number> {
  await using pool = openClients(baseUrl, clients);
  const { perSecond } = await closedLoop(clients, seconds, async (client) => {
    const writer = people[client % people.length];
    return writer === undefined ? 0 : call(pool, writer);
  });
  return perSecond;
}

async function read(pool: Requester, { apiKey }: Writer, path: string, body?: object): Promise<number> {
  const { statusCode, body: reply } = await pool.request({
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await reply.text();
  if (statusCode !== 200 || text.startsWith('{"errors"'))
    throw new Error(`${path} answered ${statusCode} ${text.slice(0, 300)}`);
  return 1;
}
