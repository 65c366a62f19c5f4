import { isUuid } from '@wts/contracts';
import { stateRow } from '@wts/log';
import {
  type PersonGroups,
  type PersonGroupsRow,
  type Selection,
  personGroupsOf,
  personGroupsSql,
} from '@wts/read-model';
import type { Pool, PoolClient, QueryResult } from 'pg';
import { CopyRows, type LineSink } from './copy-rows.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** How much longer pg waits on a connection whose server no longer answers. */
const GRACE_MS = 5_000;

/**
 * A read-only REPEATABLE READ transaction. It reads the head of the log and the person's groups first, so all it returns is
 * exactly the state at that head, in the groups that the person had at that head. Keeps sync.bootstrap.snapshot.
 *
 * `close` returns the connection to the pool, `destroy` closes the connection in the middle of a statement. A snapshot destroys
 * itself when it becomes too old.
 */
export class SnapshotTransaction implements AsyncDisposable {
  readonly person: PersonGroups;
  readonly #client: PoolClient;
  readonly #tooOld: NodeJS.Timeout;
  readonly #endsAt: number;
  #cause: Error | undefined;
  #isReleased = false;

  private constructor(client: PoolClient, person: PersonGroups, ageMsMax: number) {
    this.#client = client;
    this.person = person;
    this.#endsAt = performance.now() + ageMsMax;
    this.#tooOld = setTimeout(() => this.destroy(new SnapshotTooOld(ageMsMax)), ageMsMax);
    this.#tooOld.unref();
  }

  static async open(
    pool: Pool,
    userId: string,
    workspaceId: string | null,
    ageMsMax: number = SYNC_LIMITS.snapshotAgeMs,
  ): Promise<SnapshotTransaction> {
    // The ids become part of the statement's text.
    if (!isUuid(userId) || !(workspaceId === null || isUuid(workspaceId))) throw new Error('A principal has no id');
    const client = await pool.connect();
    // A connection that is lost between two statements only emits this event; without a listener that would end the process.
    client.on('error', ignore);
    try {
      const personGroups = personGroupsSql(`'${userId}'`, workspaceId === null ? 'null' : `'${workspaceId}'`);
      const results = (await client.query(
        `begin isolation level repeatable read read only; set local statement_timeout = ${ageMsMax};
         set local idle_in_transaction_session_timeout = ${ageMsMax}; set local jit = off; ${personGroups}`,
      )) as unknown as QueryResult<PersonGroupsRow>[];
      return new SnapshotTransaction(client, personGroupsOf(userId, stateRow(results.at(-1)?.rows ?? [])), ageMsMax);
    } catch (error) {
      client.off('error', ignore);
      client.release(true);
      throw error;
    }
  }

  /** Copies the selected records into the sink; resolves with their number when the sink has taken all. */
  async copy(selections: readonly Selection[], sink: LineSink): Promise<number> {
    if (selections.length === 0) return 0;
    const copying = new CopyRows(selections, sink, this.#endsAt - performance.now() + GRACE_MS);
    try {
      if (this.#cause !== undefined) throw this.#cause;
      this.#client.query(copying);
      await copying.done;
      return copying.rows;
    } catch (error) {
      this.destroy();
      throw this.#cause ?? error;
    }
  }

  async close(): Promise<void> {
    if (this.#isReleased) return;
    try {
      await this.#client.query('commit');
      this.#release(false);
    } catch {
      this.destroy();
    }
  }

  /** Closes the connection; PostgreSQL stops when it cannot send any more. */
  destroy(cause?: Error): void {
    this.#cause ??= cause;
    this.#release(true);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #release(broken: boolean): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearTimeout(this.#tooOld);
    this.#client.release(broken);
    // A destroyed connection may still emit the event.
    if (!broken) this.#client.off('error', ignore);
  }
}

export class SnapshotTooOld extends Error {
  constructor(ageMsMax: number) {
    super(`A snapshot may be read for ${ageMsMax} ms`);
    this.name = 'SnapshotTooOld';
  }
}

function ignore(): void {}
