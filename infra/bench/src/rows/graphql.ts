import { connectTo } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { cpuMsOf } from '../cpu.ts';
import type { PostGraphileCommand } from '../graphql/postgraphile-worker.ts';
import { OURS, PREPARE_PEER, THEIRS, type QueryName } from '../graphql/queries.ts';
import { seedGraph } from '../graphql/seed-graph.ts';
import { GOALS } from '../goals.ts';
import { closedLoop, type Measured } from '../load.ts';
import { peakWhile } from '../memory.ts';
import { atLeast, ms, number, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import { headersOfGateway, type TargetProcess } from '../target.ts';
import { openClients } from '../traffic.ts';
import { Worker } from '@wts/testkit/worker';

const CLIENTS = 16;
const MEASURED = ['list of 20', 'three levels', 'filtered, ordered, deep', 'search'] as const satisfies QueryName[];
const WITH_GOAL: readonly QueryName[] = ['list of 20', 'three levels'];

interface Answered extends Measured {
  readonly cpuMs: number;
  readonly statements: number;
  readonly peakMb: number;
}

/** Queries over a hundred thousand tasks: the graph service, and PostGraphile on the same tables, one process each. */
export async function graphqlRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, ours, rounds, seconds, sizes } = context;
  const { tasks, walkedPages } = sizes.graphql;
  const { statisticsMs } = sizes;
  await using stack = new AsyncDisposableStack();
  await seedGraph(testSystem.database.url, ours, tasks);
  const database = stack.use(await connectTo(testSystem.database.url));
  await database.query(PREPARE_PEER);
  const worker = stack.use(
    new Worker<PostGraphileCommand>(new URL('../graphql/postgraphile-worker.ts', import.meta.url)),
  );
  const peerUrl = await worker.do<string>({ do: 'open', databaseUrl: testSystem.database.url, schemas: ['sync'] });
  const { url, pid, log } = testSystem.service('graph');
  if (pid === null) throw new Error(`the graph service has exited; its log is ${log}`);
  const open = (at: string, of: TargetProcess, queries: Readonly<Record<QueryName, string>>): Contender => {
    const contender = new Contender(at, { of, queries, workspaceId: ours.workspaceId, database, statisticsMs });
    stack.use(contender);
    return contender;
  };
  const us = open(url, { name: 'graph', pid, log }, OURS);
  us.headers = headersOfGateway(testSystem, 'graph');
  const peer = open(peerUrl, { name: 'PostGraphile', pid: worker.pid, log: '' }, THEIRS);
  await us.walk(walkedPages);
  await peer.walk(walkedPages);

  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  for (const name of MEASURED) {
    for (const contender of [us, peer]) await contender.load(name, sizes.warmUpSeconds);
    const measured = await alternate<'ours' | 'peer', Answered>(rounds, {
      ours: () => us.measure(name, seconds),
      peer: () => peer.measure(name, seconds),
    });
    raw[name] = measured;
    const ratio = ratioOf(measured.ours.map(rate), measured.peer.map(rate));
    rows.push({
      what: `GraphQL, ${name}`,
      ours: textOf(median(measured.ours, rate)),
      against: `PostGraphile ${textOf(median(measured.peer, rate))}`,
      ...atLeast(ratio, WITH_GOAL.includes(name) ? GOALS.graphql.ratioMin : null),
    });
  }
  return { rows, raw };
}

const rate = ({ perSecond }: Answered): number => perSecond;

const textOf = ({ perSecond, p50Ms, p99Ms, cpuMs, statements, peakMb }: Answered): string =>
  `${number(perSecond)}/s, p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}, CPU ${ms(cpuMs)}, ${statements.toFixed(1)} statements, ${number(peakMb)} MB`;

interface ContenderOptions {
  readonly of: TargetProcess;
  readonly queries: Readonly<Record<QueryName, string>>;
  readonly workspaceId: string;
  readonly database: Client;
  readonly statisticsMs: number;
}

/** A process that answers GraphQL, and its clients. */
class Contender implements AsyncDisposable {
  headers = (): Record<string, string> => ({});
  readonly #options: ContenderOptions;
  readonly #pool: ReturnType<typeof openClients>;
  #after: string | null = null;

  constructor(url: string, options: ContenderOptions) {
    this.#options = options;
    this.#pool = openClients(url, CLIENTS);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.close();
  }

  /** Stores the cursor after so many pages. */
  async walk(pages: number): Promise<void> {
    for (let page = 0; page < pages; page += 1) {
      const text = await this.#ask('walk');
      this.#after = /"endCursor":"([^"]+)"/.exec(text)?.[1] ?? null;
      if (this.#after === null) throw new Error(`${this.#options.of.name} has no page ${page}: ${text.slice(0, 300)}`);
    }
  }

  load(name: QueryName, seconds: number): Promise<Measured> {
    return closedLoop(CLIENTS, seconds, async () => (await this.#ask(name), 1));
  }

  /** The statements include those of other processes, which are few. */
  async measure(name: QueryName, seconds: number): Promise<Answered> {
    const { of } = this.#options;
    const before = { statements: await this.#statements(), cpuMs: cpuMsOf([of.pid]) ?? Number.NaN };
    const { result, peakMb } = await peakWhile([of], () => this.load(name, seconds));
    const cpuMs = (cpuMsOf([of.pid]) ?? Number.NaN) - before.cpuMs;
    const count = result.perSecond * seconds;
    const statements = (await this.#statements()) - before.statements;
    return { ...result, cpuMs: cpuMs / count, statements: statements / count, peakMb };
  }

  async #ask(name: QueryName): Promise<string> {
    const { queries, workspaceId, of } = this.#options;
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: '/graphql',
      headers: { ...this.headers(), 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: queries[name], variables: { w: workspaceId, after: this.#after } }),
    });
    const text = await body.text();
    if (statusCode !== 200 || text.includes('"errors":'))
      throw new Error(`${of.name} answered ${statusCode} ${text.slice(0, 300)}`);
    return text;
  }

  async #statements(): Promise<number> {
    await pause(this.#options.statisticsMs);
    const { rows } = await this.#options.database.query<{ count: number }>(
      'select (xact_commit + xact_rollback)::int as count from pg_stat_database where datname = current_database()',
    );
    return rows[0]?.count ?? Number.NaN;
  }
}
