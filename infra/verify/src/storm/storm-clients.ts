import type { TestSystem } from '@wts/testkit';
import { Client } from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { expectedIds } from '../audit-live.ts';
import { compareDeliveries } from '../compare.ts';
import type { Finding } from '../finding.ts';
import { StormClient, type Credential } from './storm-client.ts';

export interface StormClientsOptions {
  readonly clients: number;
  /** They share the clients among them: each has several devices. */
  readonly people: number;
  /** One in so many lost its copy, and loads everything anew when it comes back. */
  readonly forgetfulOneIn: number;
}

/** How the clients came back. */
export interface Return {
  /** How often which refusal or close was met, the drop itself included. */
  readonly turnedAway: ReadonlyMap<string, number>;
  /** From the fault until each that was dropped was subscribed again, ascending. */
  readonly subscribedMs: readonly number[];
  readonly caughtUpMs: number;
  readonly findings: readonly Finding[];
}

const AT_ONCE = 32;
const GATHER_MS = 120_000;
const RETURN_MS = 120_000;
const LOOK_MS = 50;

/**
 * Clients with open sockets that are all dropped in the same moment and all come back in the next. They stand at one door;
 * after `moveTo` they come back to another, as when a balancer sends them elsewhere.
 */
export class StormClients implements AsyncDisposable {
  readonly #testSystem: TestSystem;
  readonly #log: Client;
  readonly #clients: StormClient[] = [];
  #door: string;
  #turnedAway = new Map<string, number>();

  private constructor(testSystem: TestSystem, log: Client) {
    this.#testSystem = testSystem;
    this.#log = log;
    this.#door = testSystem.baseUrl;
  }

  static async gather(
    testSystem: TestSystem,
    { clients, people, forgetfulOneIn }: StormClientsOptions,
  ): Promise<StormClients> {
    const log = new Client({ connectionString: testSystem.database.url });
    await log.connect();
    const storm = new StormClients(testSystem, log);
    const credentials: Credential[] = [];
    for (let index = 0; index < people; index += 1)
      credentials.push(await testSystem.member(`StormClients ${index + 1}`));
    const start = await storm.#lastPlace();
    const count = (reason: string): void =>
      void storm.#turnedAway.set(reason, (storm.#turnedAway.get(reason) ?? 0) + 1);
    const shared = { door: () => storm.#door, onTurnedAway: count };
    for (let index = 0; index < clients; index += 1) {
      const credential = credentials[index % people] as Credential;
      const isForgetful = index % forgetfulOneIn === forgetfulOneIn - 1;
      storm.#clients.push(new StormClient(`client ${index + 1}`, credential, start, shared, isForgetful));
    }
    for (let from = 0; from < clients; from += AT_ONCE) {
      const some = storm.#clients.slice(from, from + AT_ONCE);
      for (const member of some) member.connect();
      await storm.#until(() => some.every(({ isSubscribed }) => isSubscribed), GATHER_MS);
    }
    return storm;
  }

  get size(): number {
    return this.#clients.length;
  }

  /** Where they come back to, the next time they are dropped. */
  moveTo(door: string): void {
    this.#door = door;
  }

  /** Drops them all by `fault`, and judges them when the last has everything that was written until then. */
  async dropAll(fault: () => Promise<unknown>, whileAway: () => Promise<void>): Promise<Return> {
    this.#turnedAway = new Map();
    const startedMs = performance.now();
    await Promise.all([fault(), whileAway()]);
    // Nobody who was dropped may be away, and a fault that drops nobody would show nothing.
    await this.#until(() => this.#turnedAway.size > 0, RETURN_MS);
    await this.#until(() => this.#clients.every(({ isSubscribed }) => isSubscribed), RETURN_MS);
    const last = BigInt(await this.#lastPlace());
    await this.#until(() => this.#clients.every(({ cursor }) => cursor >= last), RETURN_MS);
    const caughtUpMs = performance.now() - startedMs;
    return {
      turnedAway: this.#turnedAway,
      subscribedMs: this.#clients
        .map(({ subscribedAtMs }) => (subscribedAtMs ?? 0) - startedMs)
        .filter((tookMs) => tookMs > 0)
        .toSorted((a, b) => a - b),
      caughtUpMs,
      findings: await this.#check(),
    };
  }

  /** Connections of the services to PostgreSQL, right now. */
  async connections(): Promise<number> {
    const { rows } = await this.#log.query<{ n: string }>(
      `select count(*)::text as n from pg_stat_activity where datname = current_database() and application_name like 'wts-%'`,
    );
    return Number(rows[0]?.n);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const member of this.#clients) member.leave();
    await this.#log.end();
  }

  /** Each against the log, from where it began up to where it is. */
  async #check(): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const [userId, devices] of Map.groupBy(this.#clients, ({ credential }) => credential.userId)) {
      const groups = [userId, this.#testSystem.workspaceId];
      const from = devices.map(({ after }) => BigInt(after)).reduce((least, one) => (one < least ? one : least));
      const to = devices.map(({ cursor }) => cursor).reduce((most, one) => (one > most ? one : most));
      const entries = await expectedIds(this.#log, groups, from, to);
      for (const { name, after, cursor, ids } of devices) {
        const expected = entries.filter((id) => BigInt(id) > BigInt(after) && BigInt(id) <= cursor);
        findings.push(...compareDeliveries(name, expected, ids));
      }
    }
    return findings;
  }

  /** The last place that concerns them. */
  async #lastPlace(): Promise<string> {
    const { rows } = await this.#log.query<{ last: string | null }>(
      'select max(sync_id)::text as last from sync.sync_actions where group_id = $1',
      [this.#testSystem.workspaceId],
    );
    return rows[0]?.last ?? '0';
  }

  async #until(isSo: () => boolean, deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    while (!isSo()) {
      if (performance.now() > deadline) throw new Error(`not all came back in ${deadlineMs} ms: ${this.#standing()}`);
      await pause(LOOK_MS);
    }
  }

  #standing(): string {
    const subscribed = this.#clients.filter(({ isSubscribed }) => isSubscribed).length;
    const reasons = [...this.#turnedAway].map(([reason, count]) => `${count} x ${reason}`).join(', ');
    return `${subscribed} of ${this.#clients.length} are subscribed; met ${reasons || 'nothing'}`;
  }
}
