import type { World } from '@wts/testkit';
import { Client } from 'pg';
import { expectedIds } from '../audit-live.ts';
import { compareDeliveries } from '../compare.ts';
import type { Finding } from '../finding.ts';
import type { Listener } from '../listeners.ts';
import type { Acknowledgement } from '../storm/writers.ts';

interface Watched {
  readonly listener: Listener;
  readonly userId: string;
  /** A person who comes and goes: of the workspace they hear what falls into their memberships. */
  readonly isVisitor: boolean;
  judgedUpTo: bigint;
}

/**
 * Judges while things happen: again and again each listener's deliveries since the last time are held against the log and
 * forgotten, and each acknowledgement is looked up at the place that was answered. So a soak may last as long as it likes.
 */
export class Court {
  readonly findings: string[] = [];
  delivered = 0;
  acknowledged = 0;
  rounds = 0;
  readonly #world: World;
  readonly #watched: Watched[] = [];
  #answers: Acknowledgement[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  watch(listener: Listener, userId: string, from: bigint, isVisitor = false): void {
    this.#watched.push({ listener, userId, isVisitor, judgedUpTo: from });
  }

  acknowledge(answer: Acknowledgement): void {
    this.acknowledged += 1;
    this.#answers.push(answer);
  }

  /** How far the last of all listeners is. */
  get reached(): bigint {
    return this.#watched.reduce((least, { listener }) => (listener.at() < least ? listener.at() : least), 1n << 62n);
  }

  /** False when the log could not be read, as while PostgreSQL restarts: the next round judges more. */
  async sit(): Promise<boolean> {
    const answers = this.#answers;
    this.#answers = [];
    try {
      await this.#withLog(async (client) => {
        await this.#judgeAnswers(client, answers.splice(0));
        for (const one of this.#watched) await this.#judgeListener(client, one);
      });
      this.rounds += 1;
      return true;
    } catch (error) {
      if (!isOutage(error)) throw error;
      return false;
    } finally {
      this.#answers.unshift(...answers);
    }
  }

  /** At the end: nothing stands in the log twice. */
  async findDoubled(): Promise<void> {
    await this.#withLog(async (client) => {
      const { rows } = await client.query<{ id: string; n: string }>(
        `select model_id::text as id, count(*)::text as n from sync.sync_actions where model = 'Task' and action = 'INSERT'
         group by model_id having count(*) > 1 limit 20`,
      );
      for (const { id, n } of rows) this.#find(`applied ${n} times: task ${id}`);
    });
  }

  report(findings: readonly Finding[]): void {
    for (const { promise, seen } of findings) this.#find(`${promise}: ${seen}`);
  }

  #find(text: string): void {
    this.findings.push(text);
  }

  async #judgeAnswers(client: Client, answers: readonly Acknowledgement[]): Promise<void> {
    const { rows } = await client.query<{ at: string; tx: string; id: string }>(
      `select sync_id::text as at, client_tx_id as tx, model_id::text as id from sync.sync_actions where sync_id = any($1::bigint[])`,
      [answers.map(({ syncId }) => syncId)],
    );
    const byPlace = new Map(rows.map((row) => [row.at, row]));
    for (const { clientTxId, modelId, syncId } of answers) {
      const row = byPlace.get(syncId);
      if (row?.tx !== clientTxId || row.id !== modelId)
        this.#find(`acknowledged at ${syncId} and not there: task ${modelId}`);
    }
  }

  async #judgeListener(client: Client, one: Watched): Promise<void> {
    const { listener, userId, isVisitor, judgedUpTo } = one;
    const upTo = listener.at();
    const heard = listener.take(upTo);
    const { workspaceId } = this.#world;
    if (isVisitor) {
      const own = heard.filter(({ groupId }) => groupId === userId).map(({ syncId }) => syncId);
      this.report(compareDeliveries(listener.name, await expectedIds(client, [userId], judgedUpTo, upTo), own));
      const absences = await absencesOf(client, userId, upTo);
      const others = heard.filter(({ groupId }) => groupId !== userId).map(({ syncId }) => BigInt(syncId));
      const leaked = others.filter((id) => absences.some(({ from, to }) => id > from && id < to));
      for (const id of leaked) this.#find(`${listener.name}: ${id} came and is of a time without membership`);
      const last = others.findIndex((id, index) => index > 0 && id <= (others[index - 1] ?? 0n));
      if (last >= 0) this.#find(`${listener.name}: ${others[last]} came after ${others[last - 1]}`);
    } else {
      const expected = await expectedIds(client, [userId, workspaceId], judgedUpTo, upTo);
      this.report(
        compareDeliveries(
          listener.name,
          expected,
          heard.map(({ syncId }) => syncId),
        ),
      );
    }
    this.delivered += heard.length;
    one.judgedUpTo = upTo;
  }

  async #withLog(work: (client: Client) => Promise<void>): Promise<void> {
    const client = new Client({ connectionString: this.#world.database.url, connectionTimeoutMillis: 5_000 });
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

/** Connection lost, refused, or the server is starting or stopping (SQLSTATE classes 08 and 57). */
function isOutage(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return /^(08|57)/.test(code) || /^E(CONN|PIPE)/.test(code) || /terminated|timeout|fetch failed/i.test(message);
}
