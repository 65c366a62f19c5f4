import type { SyncAction } from '@wts/contracts';
import type { TestSystem } from '@wts/testkit';
import { Client } from 'pg';
import { expectedIds } from '../audit-live.ts';
import { compareDeliveries } from '../compare.ts';
import type { Finding } from '../finding.ts';
import type { Listener } from '../listeners.ts';
import { isOutage } from '../load/outage.ts';
import type { Acknowledgement } from '../load/writers.ts';

interface Watched {
  readonly listener: Listener;
  readonly expects: Expects;
  checkedUpTo: bigint;
  /** Judged once more, and then let go. */
  isLeaving: boolean;
}

/** What somebody is to hear: all of these groups, or as a visitor, who comes and goes, what falls into their memberships. */
export type Expects = { readonly groups: readonly string[] } | { readonly visitor: string };

/**
 * Judges while things happen: again and again each listener's deliveries since the last time are held against the log and
 * forgotten, and each acknowledgement is looked up at the place that was answered. So a soak may last as long as it likes.
 */
export class DeliveryCheck {
  readonly findings: Finding[] = [];
  delivered = 0;
  acknowledged = 0;
  rounds = 0;
  readonly #testSystem: TestSystem;
  #watched: Watched[] = [];
  #answers: Acknowledgement[] = [];

  constructor(testSystem: TestSystem) {
    this.#testSystem = testSystem;
  }

  watch(listener: Listener, expects: Expects, from: bigint): void {
    this.#watched.push({ listener, expects, checkedUpTo: from, isLeaving: false });
  }

  /** Who was watched goes: what came until then is checked. */
  dismiss(listener: Listener): void {
    for (const one of this.#watched) if (one.listener === listener) one.isLeaving = true;
  }

  acknowledge(answer: Acknowledgement): void {
    this.acknowledged += 1;
    this.#answers.push(answer);
  }

  /** How far the last of all listeners is. */
  get reached(): bigint {
    return this.#watched.reduce((least, { listener }) => (listener.at() < least ? listener.at() : least), 1n << 62n);
  }

  /** False when the log could not be read, as while PostgreSQL restarts: the next round checks more. */
  async runRound(): Promise<boolean> {
    const answers = this.#answers;
    this.#answers = [];
    try {
      await this.#withLog(async (client) => {
        await this.#checkAnswers(client, answers.splice(0));
        for (const one of this.#watched) await this.#checkListener(client, one);
      });
      const leaving = this.#watched.filter(({ isLeaving }) => isLeaving);
      this.#watched = this.#watched.filter((one) => !leaving.includes(one));
      await Promise.all(leaving.map(({ listener }) => listener[Symbol.asyncDispose]()));
      this.rounds += 1;
      return true;
    } catch (error) {
      if (!isOutage(error)) throw error;
      return false;
    } finally {
      this.#answers.unshift(...answers);
    }
  }

  /** At the end: no transaction stands in the log twice. */
  async findDoubled(): Promise<void> {
    await this.#withLog(async (client) => {
      const { rows } = await client.query<{ id: string; n: string }>(
        `select model_id::text as id, count(*)::text as n from sync.sync_actions where model = 'Task'
         group by actor_id, client_id, client_tx_id, model_id, group_id, action having count(*) > 1 limit 20`,
      );
      for (const { id, n } of rows) this.#find('applied-once', `applied ${n} times: task ${id}`);
    });
  }

  report(findings: readonly Finding[]): void {
    this.findings.push(...findings);
  }

  #find(promise: Finding['promise'], seen: string): void {
    this.findings.push({ promise, seen });
  }

  async #checkAnswers(client: Client, answers: readonly Acknowledgement[]): Promise<void> {
    const { rows } = await client.query<{ at: string; tx: string; id: string }>(
      `select sync_id::text as at, client_tx_id as tx, model_id::text as id from sync.sync_actions where sync_id = any($1::bigint[])`,
      [answers.map(({ syncId }) => syncId)],
    );
    const byPlace = new Map(rows.map((row) => [row.at, row]));
    for (const { clientTxId, modelId, syncId } of answers) {
      const row = byPlace.get(syncId);
      if (row?.tx !== clientTxId || row.id !== modelId)
        this.#find('acknowledged-is-there', `acknowledged at ${syncId} and not there: task ${modelId}`);
    }
  }

  async #checkListener(client: Client, one: Watched): Promise<void> {
    const { listener, expects, checkedUpTo } = one;
    const upTo = listener.at();
    const received = listener.take(upTo);
    if ('visitor' in expects) {
      await this.#checkVisitor(client, listener.name, expects.visitor, received, checkedUpTo, upTo);
    } else {
      const expected = await expectedIds(client, expects.groups, checkedUpTo, upTo);
      const ids = received.map(({ syncId }) => syncId);
      this.report(compareDeliveries(listener.name, expected, ids));
    }
    this.delivered += received.length;
    one.checkedUpTo = upTo;
  }

  async #checkVisitor(
    client: Client,
    name: string,
    userId: string,
    received: readonly SyncAction[],
    after: bigint,
    upTo: bigint,
  ): Promise<void> {
    const own = received.filter(({ groupId }) => groupId === userId).map(({ syncId }) => syncId);
    this.report(compareDeliveries(name, await expectedIds(client, [userId], after, upTo), own));
    const absences = await absencesOf(client, userId, upTo);
    const others = received.filter(({ groupId }) => groupId !== userId).map(({ syncId }) => BigInt(syncId));
    const leaked = others.filter((id) => absences.some(({ from, to }) => id > from && id < to));
    for (const id of leaked) this.#find('nothing-foreign', `${name}: ${id} came and is of a time without membership`);
    const last = others.findIndex((id, index) => index > 0 && id <= (others[index - 1] ?? 0n));
    if (last >= 0) this.#find('in-order', `${name}: ${others[last]} came after ${others[last - 1]}`);
  }

  /** For whoever else wants to look into the log while it lasts. Nothing is found while it cannot be read. */
  async withLog(work: (client: Client) => Promise<readonly Finding[]>): Promise<void> {
    try {
      await this.#withLog(async (client) => this.report(await work(client)));
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
  }

  async #withLog(work: (client: Client) => Promise<void>): Promise<void> {
    const client = new Client({ connectionString: this.#testSystem.database.url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await work(client);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** From each loss of the workspace, exclusive, to the next gain, exclusive. */
async function absencesOf(client: Client, userId: string, upTo: bigint): Promise<{ from: bigint; to: bigint }[]> {
  const { rows } = await client.query<{ at: string; action: string }>(
    `select sync_id::text as at, action from sync.sync_actions
     where group_id = $1 and model = 'WorkspaceMember' and action in ('INSERT', 'DELETE') and sync_id <= $2 order by sync_id`,
    [userId, upTo.toString()],
  );
  return rows.flatMap(({ at, action }, index) => {
    if (action !== 'DELETE') return [];
    return [{ from: BigInt(at), to: BigInt(rows[index + 1]?.at ?? upTo + 1n) }];
  });
}
