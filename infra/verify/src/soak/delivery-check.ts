import { CLIENT_FLOOR, LOG_STATE } from '@wts/log';
import { connectTo } from '@wts/testkit';
import type { Client } from 'pg';
import type { CheckedSystem } from '../checked-system.ts';
import { expectedIds } from '../audit-live.ts';
import { compareDeliveries } from '../compare.ts';
import type { AuditFinding } from '../finding.ts';
import { needsBootstrap, type Follower } from '../followers.ts';
import { isOutage } from '../load/outage.ts';
import type { Acknowledgement } from '../load/writers.ts';

interface Watched {
  readonly follower: Follower;
  readonly expects: Expects;
  checkedUpTo: bigint;
  /** The next round checks it once more, and then closes it. */
  isClosing: boolean;
}

/** What a follower must receive: all of these groups, or the entries during the memberships of this temporary member. */
export type Expects = { readonly groups: readonly string[] } | { readonly temporaryMember: string };

/**
 * Checks while the soak runs. Each round compares what each follower received since the last round with the log and drops
 * it, and looks up each acknowledged change at its position. So memory does not grow with the length of a soak.
 */
export class DeliveryCheck {
  readonly findings: AuditFinding[] = [];
  delivered = 0;
  acknowledged = 0;
  rounds = 0;
  readonly #testSystem: CheckedSystem;
  #watched: Watched[] = [];
  #acknowledgements: Acknowledgement[] = [];

  constructor(testSystem: CheckedSystem) {
    this.#testSystem = testSystem;
  }

  watch(follower: Follower, expects: Expects, from: bigint): void {
    this.#watched.push({ follower, expects, checkedUpTo: from, isClosing: false });
  }

  /** Closes the follower after the next round, which checks what it received. */
  unwatch(follower: Follower): void {
    for (const one of this.#watched) if (one.follower === follower) one.isClosing = true;
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    this.acknowledged += 1;
    this.#acknowledgements.push(acknowledgement);
  }

  /** The cursor of the slowest follower. */
  get reached(): bigint {
    return this.#watched
      .map(({ follower }) => follower.cursor())
      .reduce((least, cursor) => (cursor < least ? cursor : least), 1n << 62n);
  }

  /** Resolves to false when the log cannot be read, for example while PostgreSQL restarts: the next round checks more. */
  async runRound(): Promise<boolean> {
    const acknowledgements = this.#acknowledgements;
    this.#acknowledgements = [];
    try {
      await this.#withLog(async (client) => {
        await this.#checkAcknowledged(client, acknowledgements.splice(0));
        for (const one of this.#watched) await this.#checkFollower(client, one);
      });
      const closing = this.#watched.filter(({ isClosing }) => isClosing);
      this.#watched = this.#watched.filter((one) => !closing.includes(one));
      await Promise.all(closing.map(({ follower }) => follower[Symbol.asyncDispose]()));
      this.rounds += 1;
      return true;
    } catch (error) {
      if (!isOutage(error)) throw error;
      return false;
    } finally {
      this.#acknowledgements.unshift(...acknowledgements);
    }
  }

  /** At the end: finds transactions that are in the log twice. */
  async findDoubled(): Promise<void> {
    await this.#withLog(async (client) => {
      const { rows } = await client.query<{ id: string; n: string }>(
        `select model_id::text as id, count(*)::text as n from sync.sync_actions where model = 'Task'
         group by actor_id, client_id, client_tx_id, model_id, group_id, action having count(*) > 1 limit 20`,
      );
      for (const { id, n } of rows) this.#find('applied-once', `applied ${n} times: task ${id}`);
    });
  }

  report(findings: readonly AuditFinding[]): void {
    this.findings.push(...findings);
  }

  #find(guarantee: AuditFinding['guarantee'], seen: string): void {
    this.findings.push({ guarantee, seen });
  }

  async #checkAcknowledged(client: Client, acknowledgements: readonly Acknowledgement[]): Promise<void> {
    const { rows } = await client.query<{ position: string; tx: string; id: string }>(
      `select sync_id::text as position, client_tx_id as tx, model_id::text as id from sync.sync_actions where sync_id = any($1::bigint[])`,
      [acknowledgements.map(({ syncId }) => syncId)],
    );
    const byPosition = new Map(rows.map((row) => [row.position, row]));
    for (const { clientTxId, modelId, syncId } of acknowledgements) {
      const row = byPosition.get(syncId);
      if (row?.tx !== clientTxId || row.id !== modelId)
        this.#find('acknowledged-is-there', `task ${modelId} was acknowledged at ${syncId} and is not there`);
    }
  }

  /** Takes from the follower after all that can fail, so that a later round can repeat it. */
  async #checkFollower(client: Client, one: Watched): Promise<void> {
    const { follower, expects, checkedUpTo: after } = one;
    const upTo = follower.cursor();
    const temporaryMember = 'temporaryMember' in expects ? expects.temporaryMember : null;
    const groups = 'groups' in expects ? expects.groups : [expects.temporaryMember];
    const expected = await expectedIds(client, { groups, after, upTo });
    const absences = temporaryMember === null ? [] : await absencesOf(client, temporaryMember, upTo);
    const beginning = await beginningOf(client);
    const received = follower.take(upTo);
    const reloads = follower.takeReloads(upTo);
    const isFollowed = (id: string): boolean => !reloads.some(({ from, to }) => BigInt(id) > from && BigInt(id) <= to);
    const wanted = temporaryMember === null ? received : received.filter(({ groupId }) => groupId === temporaryMember);
    this.report(
      compareDeliveries(
        follower.name,
        expected.filter(isFollowed),
        wanted.map(({ syncId }) => syncId),
      ),
    );
    if (temporaryMember !== null) {
      const own = new Set([temporaryMember, ...(await this.#ownWorkspaces(client, temporaryMember))]);
      const others = received.filter(({ groupId }) => !own.has(groupId)).map(({ syncId }) => BigInt(syncId));
      this.#checkMemberships(follower.name, others, absences);
    }
    // A follower may load a new snapshot only when the log lost the entries after its cursor, as after a promotion.
    for (const { from } of reloads)
      if (from >= beginning)
        this.#find('readers-advance', `${follower.name}: loaded again at ${from}, but the log begins at ${beginning}`);
    this.delivered += received.length;
    one.checkedUpTo = upTo;
  }

  /** The workspaces that a temporary member never leaves. */
  async #ownWorkspaces(client: Client, userId: string): Promise<string[]> {
    const { rows } = await client.query<{ id: string }>(
      `select workspace_id as id from sync.workspace_members where user_id = $1 and workspace_id <> $2`,
      [userId, this.#testSystem.workspaceId],
    );
    return rows.map(({ id }) => id);
  }

  #checkMemberships(name: string, received: readonly bigint[], absences: readonly Absence[]): void {
    const leaked = received.filter((id) => absences.some(({ from, to }) => id > from && id < to));
    for (const id of leaked) this.#find('nothing-foreign', `${name}: received ${id}, written while it was no member`);
    const last = received.findIndex((id, index) => index > 0 && id <= (received[index - 1] ?? 0n));
    if (last >= 0) this.#find('in-order', `${name}: received ${received[last]} after ${received[last - 1]}`);
  }

  /** Runs another audit on the log. It does nothing while the log cannot be read. */
  async withLog(work: (client: Client) => Promise<readonly AuditFinding[]>): Promise<void> {
    try {
      await this.#withLog(async (client) => this.report(await work(client)));
    } catch (error) {
      // A promotion ends the log that the work was reading.
      if (!isOutage(error) && !needsBootstrap(error)) throw error;
    }
  }

  async #withLog(work: (client: Client) => Promise<void>): Promise<void> {
    await using client = await connectTo(this.#testSystem.database.url, { connectionTimeoutMillis: 5_000 });
    await work(client);
  }
}

/** Clients with older cursors must load a snapshot. */
async function beginningOf(client: Client): Promise<bigint> {
  const { rows } = await client.query<{ floor: string }>(`select ${CLIENT_FLOOR}::text as floor from ${LOG_STATE}`);
  return BigInt(rows[0]?.floor ?? 0);
}

/** From a loss of the workspace, exclusive, to the next gain, exclusive. */
interface Absence {
  readonly from: bigint;
  readonly to: bigint;
}

async function absencesOf(client: Client, userId: string, upTo: bigint): Promise<Absence[]> {
  const { rows } = await client.query<{ position: string; action: string }>(
    `select sync_id::text as position, action from sync.sync_actions
     where group_id = $1 and model = 'WorkspaceMember' and action in ('INSERT', 'DELETE') and sync_id <= $2 order by sync_id`,
    [userId, upTo.toString()],
  );
  return rows.flatMap(({ position, action }, index) => {
    if (action !== 'DELETE') return [];
    return [{ from: BigInt(position), to: BigInt(rows[index + 1]?.position ?? upTo + 1n) }];
  });
}
