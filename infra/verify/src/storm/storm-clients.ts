import { connectTo } from '@wts/testkit';
import type { Client } from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { expectedIds } from '../audit-live.ts';
import type { CheckedSystem } from '../checked-system.ts';
import { compareDeliveries } from '../compare.ts';
import type { AuditFinding } from '../finding.ts';
import { StormClient, type Credential } from './storm-client.ts';

export interface StormClientsOptions {
  readonly clients: number;
  /** Each person has `clients / people` of the clients. */
  readonly people: number;
  /** One client in so many has no local copy and loads everything again when it reconnects. */
  readonly reloadOneIn: number;
}

/** How the clients reconnected. */
export interface Reconnect {
  /** How often connections were refused or closed for which reason, including the drop itself. */
  readonly rejections: ReadonlyMap<string, number>;
  /** The times from the drop until each client was subscribed again, ascending. */
  readonly subscribedMs: readonly number[];
  readonly caughtUpMs: number;
  readonly findings: readonly AuditFinding[];
}

const PARALLEL = 32;
const OPEN_MS = 120_000;
const RECONNECT_MS = 120_000;
const POLL_MS = 50;

/**
 * Clients with open sockets that are all dropped at the same time and reconnect immediately. After `reconnectTo` they use
 * another address, as behind a load balancer that moves them.
 */
export class StormClients implements AsyncDisposable {
  readonly #testSystem: CheckedSystem;
  readonly #log: Client;
  readonly #clients: StormClient[] = [];
  #baseUrl: string;
  #rejections = new Map<string, number>();

  private constructor(testSystem: CheckedSystem, log: Client) {
    this.#testSystem = testSystem;
    this.#log = log;
    this.#baseUrl = testSystem.baseUrl;
  }

  static async open(
    testSystem: CheckedSystem,
    { clients, people, reloadOneIn }: StormClientsOptions,
  ): Promise<StormClients> {
    const storm = new StormClients(testSystem, await connectTo(testSystem.database.url));
    const credentials: Credential[] = [];
    for (let index = 0; index < people; index += 1) credentials.push(await testSystem.member(`Person ${index + 1}`));
    const after = await storm.#head();
    const onRejected = (reason: string): void =>
      void storm.#rejections.set(reason, (storm.#rejections.get(reason) ?? 0) + 1);
    for (let index = 0; index < clients; index += 1) {
      const credential = credentials[index % people] as Credential;
      const isReloading = index % reloadOneIn === reloadOneIn - 1;
      const name = `client ${index + 1}`;
      const baseUrl = (): string => storm.#baseUrl;
      storm.#clients.push(new StormClient({ name, credential, after, baseUrl, onRejected, isReloading }));
    }
    for (let from = 0; from < clients; from += PARALLEL) {
      const some = storm.#clients.slice(from, from + PARALLEL);
      for (const client of some) client.connect();
      await storm.#until(() => some.every(({ isSubscribed }) => isSubscribed), OPEN_MS);
    }
    return storm;
  }

  get size(): number {
    return this.#clients.length;
  }

  /** Sets the address that they use from the next reconnect on. */
  reconnectTo(baseUrl: string): void {
    this.#baseUrl = baseUrl;
  }

  /** Drops all clients by `disrupt`, waits until each has everything written until then, and audits them. */
  async dropAll(disrupt: () => Promise<unknown>, write: () => Promise<void>): Promise<Reconnect> {
    this.#rejections = new Map();
    const startedMs = performance.now();
    await Promise.all([disrupt(), write()]);
    // Without a rejection no client was dropped, and the test would show nothing.
    await this.#until(() => this.#rejections.size > 0, RECONNECT_MS);
    await this.#caughtUp();
    const caughtUpMs = performance.now() - startedMs;
    return {
      rejections: this.#rejections,
      subscribedMs: this.#clients
        .map(({ subscribedAtMs }) => (subscribedAtMs ?? 0) - startedMs)
        .filter((tookMs) => tookMs > 0)
        .toSorted((a, b) => a - b),
      caughtUpMs,
      findings: await this.#audit(),
    };
  }

  /** Waits until each client has everything written until now, and audits them. */
  async settle(): Promise<readonly AuditFinding[]> {
    await this.#caughtUp();
    return this.#audit();
  }

  /** The current number of connections from services to PostgreSQL. */
  async connections(): Promise<number> {
    const { rows } = await this.#log.query<{ n: string }>(
      `select count(*)::text as n from pg_stat_activity where datname = current_database() and application_name like 'wts-%'`,
    );
    return Number(rows[0]?.n);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.#log.end();
  }

  async #caughtUp(): Promise<void> {
    await this.#until(() => this.#clients.every(({ isSubscribed }) => isSubscribed), RECONNECT_MS);
    const head = BigInt(await this.#head());
    await this.#until(() => this.#clients.every(({ cursor }) => cursor >= head), RECONNECT_MS);
  }

  /** Compares each client with the log, from its start to its cursor. */
  async #audit(): Promise<AuditFinding[]> {
    const findings: AuditFinding[] = [];
    for (const [userId, clients] of Map.groupBy(this.#clients, ({ credential }) => credential.userId)) {
      const groups = [userId, this.#testSystem.workspaceId];
      const least = clients.map(({ after }) => BigInt(after)).reduce((min, one) => (one < min ? one : min));
      const upTo = clients.map(({ cursor }) => cursor).reduce((max, one) => (one > max ? one : max));
      const entries = await expectedIds(this.#log, { groups, after: least, upTo });
      for (const { name, after, cursor, ids } of clients) {
        const expected = entries.filter((id) => BigInt(id) > BigInt(after) && BigInt(id) <= cursor);
        findings.push(...compareDeliveries(name, expected, ids));
      }
    }
    return findings;
  }

  /** The position of the newest entry of their workspace. */
  async #head(): Promise<string> {
    const { rows } = await this.#log.query<{ last: string | null }>(
      'select max(sync_id)::text as last from sync.sync_actions where group_id = $1',
      [this.#testSystem.workspaceId],
    );
    return rows[0]?.last ?? '0';
  }

  async #until(isSo: () => boolean, deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    while (!isSo()) {
      if (performance.now() > deadline)
        throw new Error(`not all clients reconnected in ${deadlineMs} ms: ${this.#status()}`);
      await pause(POLL_MS);
    }
  }

  #status(): string {
    const subscribed = this.#clients.filter(({ isSubscribed }) => isSubscribed).length;
    const reasons = [...this.#rejections].map(([reason, count]) => `${count} x ${reason}`).join(', ');
    return `${subscribed} of ${this.#clients.length} are subscribed; rejections: ${reasons || 'none'}`;
  }
}
