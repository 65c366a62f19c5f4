import type { Socket } from 'node:net';
import type { FairGate } from '@wts/service-kit/fairness';
import { backendOf, cancelOnAbort, isBackendKnown } from '@wts/service-kit/postgres';
import { DatabaseError, type Pool, type PoolClient, type QueryResultRow } from 'pg';
import type { Caller } from '../domain/caller.ts';
import type { AnswerBytes } from '../domain/answer-bytes.ts';
import { graphError } from '../domain/errors.ts';
import { GRAPH_LIMITS } from '../limits.ts';
import type { Statement } from './statement.ts';
import { StatementNames } from './statement-names.ts';

/** The connections to one server. */
export interface Server {
  readonly pool: Pool;
  /** A few connections that only cancel, because those of `pool` may all wait for statements whose results are not needed. */
  readonly cancelPool: Pool;
  /** Divides the connections of `pool` by person. */
  readonly gate: FairGate;
}

/**
 * Runs the statements of requests: a statement takes a connection when it is its person's turn, so no person takes the connections
 * of others. When the signal of a request aborts, because its client has disconnected or has its answer, or its deadline has passed,
 * a statement that waits for a connection never runs, and a running one is cancelled in PostgreSQL. A request that reads too many
 * bytes ends too, before they are in memory. Keeps graphql.limit.deadline, graphql.limit.bytes.
 */
export class Statements {
  readonly #servers: ReadonlyMap<Pool, Server>;
  readonly #names = new StatementNames();

  constructor(servers: readonly Server[]) {
    this.#servers = new Map(servers.map((server) => [server.pool, server]));
  }

  /** The rows of one statement, which is prepared when it is frequent. Rejects with the reason of the signal when it aborts. */
  async rows<Row extends QueryResultRow>(
    { principal, signal, bytes }: Pick<Caller, 'principal' | 'signal' | 'bytes'>,
    pool: Pool,
    query: Statement,
  ): Promise<Row[]> {
    const server = this.#servers.get(pool);
    if (server === undefined) throw new Error('the pool is of no server');
    const task = { signal, isLarge: true, kind: query.text };
    return server.gate.run(principal.userId, task, () => this.#run<Row>(server, { signal, bytes }, query));
  }

  async #run<Row extends QueryResultRow>(
    { pool, cancelPool }: Server,
    { signal, bytes }: Pick<Caller, 'signal' | 'bytes'>,
    { text, values, isPlannedByValues, isText = false }: Statement,
  ): Promise<Row[]> {
    const bytesMax = isText ? GRAPH_LIMITS.readBytesMax : GRAPH_LIMITS.parsedBytesMax;
    if (!bytes.add(0, bytesMax)) throw tooManyBytes(bytes, bytesMax);
    const name = this.#names.nameOf(text);
    // The driver does not change them.
    const query = { text, values: values as unknown[], ...(name === undefined ? {} : { name }) };
    const client = await pool.connect();
    const isCurrent = this.#names.isCurrent(client);
    let cancelling: AsyncDisposable | undefined;
    let broken: Error | undefined;
    using reading = countBytes(client, bytes, bytesMax);
    try {
      signal.throwIfAborted();
      // Sent before the first statement of a connection, so that it does not wait behind it.
      const known = isBackendKnown(client) ? undefined : backendOf(client);
      cancelling = cancelOnAbort(client, cancelPool, signal);
      const mode = name === undefined || isPlannedByValues ? 'auto' : 'force_generic_plan';
      if (planModes.get(client) !== mode) {
        await setPlanMode(client, mode);
        signal.throwIfAborted();
      }
      const running = client.query<Row>(query);
      if (known !== undefined) await Promise.all([known, running]);
      const { rows } = await running;
      // The last bytes were too many, so the connection is closed already, and the pool must not give it to the next statement.
      if (reading.isTooMuch) throw tooManyBytes(bytes, bytesMax);
      return rows;
    } catch (error) {
      if (reading.isTooMuch) {
        broken = error as Error;
        throw tooManyBytes(bytes, bytesMax);
      }
      if (isOfConnection(error)) broken = error as Error;
      throw signal.aborted ? signal.reason : (sortRefusal(error) ?? error);
    } finally {
      await cancelling?.[Symbol.asyncDispose]();
      client.release(broken ?? !isCurrent);
    }
  }
}

type PlanMode = 'auto' | 'force_generic_plan';

const planModes = new WeakMap<PoolClient, PlanMode>();

/**
 * Sets how the next statements are planned. A statement of a page takes several times as long to plan as to run, and one plan is
 * good for all values, but PostgreSQL makes a new one each time, because its estimate for unknown values is higher.
 */
async function setPlanMode(client: PoolClient, mode: PlanMode): Promise<void> {
  await client.query(`set plan_cache_mode = ${mode}`);
  planModes.set(client, mode);
}

interface Reading extends Disposable {
  readonly isTooMuch: boolean;
}

/**
 * Counts what the server sends, with that of the other statements of the request, and closes the connection when it is too much,
 * because the driver collects a whole row before it gives anything of it.
 */
function countBytes(client: PoolClient, bytes: AnswerBytes, bytesMax: number): Reading {
  // Not in the types of the driver.
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  let counted = stream.bytesRead;
  let isTooMuch = false;
  const count = (): void => {
    const more = stream.bytesRead - counted;
    counted = stream.bytesRead;
    if (isTooMuch || bytes.add(more, bytesMax)) return;
    isTooMuch = true;
    stream.destroy();
  };
  stream.on('data', count);
  return {
    get isTooMuch() {
      return isTooMuch;
    },
    [Symbol.dispose]: () => stream.off('data', count),
  };
}

function tooManyBytes({ refusal }: AnswerBytes, bytesMax: number): Error {
  if (refusal !== null) return refusal;
  const mebibytes = bytesMax / 1024 / 1024;
  const message = `The records of this operation are larger than ${mebibytes} MiB. Ask for fewer of them, or for fewer long texts.`;
  return graphError('COMPLEXITY_LIMIT_EXCEEDED', message);
}

/** What a statement casts to a boolean, with a number behind it, when it would sort too many records. */
export const TOO_MANY_TO_SORT = 'too many to sort: ';

/** The error for a caller whose statement would sort too many records; undefined for another error. */
function sortRefusal(error: unknown): Error | undefined {
  if (!(error instanceof DatabaseError) || error.code !== '22P02' || !error.message.includes(TOO_MANY_TO_SORT))
    return undefined;
  const message = `More than ${GRAPH_LIMITS.sortedRecordsMax} records match a list that has to be sorted. Order it by createdAt alone, or completed tasks by completedAt alone, or filter it, for example by projectId, assigneeId, taskId or a range of createdAt.`;
  return graphError('COMPLEXITY_LIMIT_EXCEEDED', message);
}

/** An error of the server has a severity; after any other one the connection may be in any state. */
function isOfConnection(error: unknown): boolean {
  return !(error instanceof Error && 'severity' in error);
}
