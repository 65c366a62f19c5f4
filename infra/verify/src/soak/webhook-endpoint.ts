import { webhookApi, type WebhookEndpoint } from '@wts/contracts';
import { connectTo, type Reply } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckedSystem } from '../checked-system.ts';
import { isOutage } from '../load/outage.ts';
import { END, type Between, type CheckedEndpoint, type Gap, type KnownSecret } from './endpoint-history.ts';

interface EndpointOptions extends Pick<CheckedEndpoint, 'name' | 'eventTypes' | 'isReplaced'> {
  readonly system: CheckedSystem;
  /** From then on nothing is written, so the cursor moves no more. */
  readonly stop: AbortSignal;
}

interface Answered {
  readonly reply: Reply;
  readonly requestedMs: number;
  readonly answeredMs: number;
  /** An earlier request had no answer, so the service may have done it twice. */
  readonly isRepeated: boolean;
}

const RETRY_MS = 250;
const RETRYING_MS_MAX = 60_000;
const POLL_MS = 50;
const MOVES_WITHIN_MS = 20_000;
/** PostgreSQL writes commits that nothing waits for to disk within 600 ms. */
const DURABLE_MS = 1_000;

/** A webhook endpoint of the demo workspace, with what was done to it and where in the log. */
export class SoakEndpoint implements CheckedEndpoint {
  readonly name: string;
  readonly eventTypes: readonly string[];
  readonly secrets: KnownSecret[] = [];
  readonly gaps: Gap[] = [];
  isDeleted = false;
  readonly isReplaced: boolean;
  readonly #system: CheckedSystem;
  readonly #stop: AbortSignal;
  #id = '';
  /** While it is disabled. */
  #off: (Pick<Gap, 'begins'> & { readonly fromMs: number }) | null = null;

  private constructor({ system, stop, name, eventTypes, isReplaced }: EndpointOptions) {
    this.#system = system;
    this.#stop = stop;
    this.name = name;
    this.eventTypes = eventTypes;
    this.isReplaced = isReplaced;
  }

  static async create({ url, ...options }: EndpointOptions & { readonly url: string }): Promise<SoakEndpoint> {
    const created = new SoakEndpoint(options);
    const { workspaceId } = options.system;
    const earliest = await created.#read(HEAD);
    const body = { url, workspaceId, description: `${created.name} consumer`, eventTypes: created.eventTypes };
    const { reply, requestedMs, answeredMs, isRepeated } = await created.#call(
      'POST',
      webhookApi.createEndpoint.path,
      body,
    );
    const latest = await created.#read(HEAD);
    const { endpoint, secret } = reply.json() as { endpoint: WebhookEndpoint; secret: string };
    created.#id = endpoint.id;
    created.secrets.push({ secret, requestedMs, answeredMs: isRepeated ? answeredMs : -Infinity });
    created.gaps.push({
      begins: { earliest: 0n, latest: 0n },
      ends: { earliest, latest },
      off: { fromMs: 0, toMs: requestedMs },
    });
    return created;
  }

  async rotate(): Promise<void> {
    const { reply, requestedMs, answeredMs } = await this.#call('POST', this.#path(webhookApi.rotateSecret.path));
    const { secret } = reply.json() as { secret: string };
    this.secrets.push({ secret, requestedMs, answeredMs });
  }

  /** By a request, or by what its consumer answers: `goneBy` makes it answer 410 until the endpoint is disabled. */
  async disable(goneBy?: (isGone: boolean) => void): Promise<void> {
    const earliest = await this.#durableCursor();
    if (goneBy === undefined) await this.#enable(false);
    else {
      goneBy(true);
      await this.#untilDisabled();
      goneBy(false);
    }
    this.#off = { fromMs: Date.now(), begins: { earliest, latest: await this.#nextCursor() } };
  }

  /** Does nothing when it is enabled. */
  async enable(): Promise<void> {
    const off = this.#off;
    if (off === null) return;
    const earliest = await this.#durableCursor();
    const toMs = await this.#enable(true);
    this.#off = null;
    const [head, next] = [await this.#read(HEAD), await this.#nextCursor()];
    const ends = { earliest, latest: head < next ? next : head };
    this.gaps.push({ begins: off.begins, ends, off: { fromMs: off.fromMs, toMs } });
  }

  async delete(): Promise<void> {
    const earliest = await this.#durableCursor();
    const { answeredMs } = await this.#call('DELETE', this.#path(webhookApi.deleteEndpoint.path));
    this.isDeleted = true;
    const begins: Between = { earliest, latest: await this.#nextCursor() };
    this.gaps.push({ begins, ends: { earliest: END, latest: END }, off: { fromMs: answeredMs, toMs: Infinity } });
  }

  /** Resolves to the time of the request. */
  async #enable(enabled: boolean): Promise<number> {
    const { requestedMs } = await this.#call('PATCH', this.#path(webhookApi.updateEndpoint.path), { enabled });
    return requestedMs;
  }

  /** Until it stays disabled: PostgreSQL, when it is killed, may lose the outcome of an attempt. */
  async #untilDisabled(): Promise<void> {
    const deadlineMs = performance.now() + RETRYING_MS_MAX;
    while (!(await this.#isDisabled()) || !(await pause(DURABLE_MS).then(() => this.#isDisabled()))) {
      // No event may have been due for it meanwhile.
      if (performance.now() > deadlineMs || this.#stop.aborted) return void (await this.#enable(false));
      await pause(RETRY_MS);
    }
  }

  async #isDisabled(): Promise<boolean> {
    const { reply } = await this.#call('GET', this.#path(webhookApi.getEndpoint.path));
    return !(reply.json() as { endpoint: WebhookEndpoint }).endpoint.enabled;
  }

  get #cursor(): string {
    return `select position::text from webhooks.workspaces where workspace_id = '${this.#system.workspaceId}'`;
  }

  #path(path: string): string {
    return path.replace('{id}', this.#id);
  }

  /** Repeats the request until it has an answer. */
  async #call(method: string, path: string, body?: object): Promise<Answered> {
    const headers = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
    const { apiKey } = this.#system;
    const requestedMs = Date.now();
    for (let isRepeated = false; ; isRepeated = true) {
      const reply = await this.#system.request(apiKey, method, path, { body, headers }).catch((error: unknown) => {
        if (isOutage(error)) return null;
        throw error;
      });
      const isGone = isRepeated && method === 'DELETE' && reply?.status === 404;
      if (reply !== null && (reply.status < 300 || isGone))
        return { reply, requestedMs, answeredMs: Date.now(), isRepeated };
      const isInFlight = reply?.status === 409 && reply.text.includes('idempotency_in_flight');
      if (reply !== null && reply.status !== 503 && !isInFlight)
        throw new Error(`${method} ${path} answered ${reply.status}: ${reply.text}`);
      if (Date.now() - requestedMs > RETRYING_MS_MAX)
        throw new Error(`${method} ${path} was not answered within a minute`);
      await pause(RETRY_MS);
    }
  }

  /** Up to here events were enqueued with the settings of now, also when PostgreSQL is killed in a moment. */
  async #durableCursor(): Promise<bigint> {
    const before = await this.#read(this.#cursor);
    await pause(DURABLE_MS);
    const now = await this.#read(this.#cursor);
    return before < now ? before : now;
  }

  /** After this events are enqueued with the settings of now: the next step of the cursor may have begun before. */
  async #nextCursor(): Promise<bigint> {
    const deadlineMs = performance.now() + MOVES_WITHIN_MS;
    const from = await this.#read(this.#cursor);
    while (!this.#stop.aborted && performance.now() < deadlineMs) {
      const now = await this.#read(this.#cursor);
      if (now > from) return now;
      await pause(POLL_MS);
    }
    return END;
  }

  async #read(sql: string): Promise<bigint> {
    for (;;) {
      try {
        await using client = await connectTo(this.#system.database.url, { connectionTimeoutMillis: 5_000 });
        const { rows } = await client.query<{ position: string }>(sql);
        return BigInt(rows[0]?.position ?? 0);
      } catch (error) {
        if (!isOutage(error)) throw error;
        await pause(RETRY_MS);
      }
    }
  }
}

const HEAD = 'select coalesce(max(sync_id), 0)::text as position from sync.sync_actions';
