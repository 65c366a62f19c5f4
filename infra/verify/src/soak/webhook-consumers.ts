import { webhookApi } from '@wts/contracts';
import { findModel } from '@wts/models';
import { connectTo, eventually, receiver, type Received, type Receiver } from '@wts/testkit';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { CheckedSystem } from '../checked-system.ts';
import type { AuditFinding } from '../finding.ts';
import { rest } from '../rest.ts';
import { change, type Change } from './soak-followers.ts';
import { checkWebhooks, type Arrival, type LoggedEvent, type WebhookReport } from './webhook-check.ts';
import type { Span } from './endpoint-history.ts';
import { SoakEndpoint } from './webhook-endpoint.ts';

const STEPS_MS = [200, 500, 1_000, 1_000, 2_000, 2_000, 2_000];
export const DISPATCHER_SETTINGS = { WEBHOOK_RETRY_SCHEDULE: STEPS_MS.map((ms) => `${ms}ms`).join() };

/** What the flapping consumer does in turn, and for how long. A hanging attempt takes ten seconds, in which no other begins. */
const PHASES: readonly { readonly answer: Arrival['answer']; readonly ms: number }[] = [
  { answer: 204, ms: 8_000 },
  { answer: 500, ms: 1_000 },
  { answer: 204, ms: 8_000 },
  { answer: 'reset', ms: 700 },
  { answer: 204, ms: 8_000 },
  { answer: 'hang', ms: 300 },
];
const CYCLE_MS = PHASES.reduce((sum, { ms }) => sum + ms, 0);
const SLOW_MS = { least: 100, more: 400 };
/** A hanging attempt lasts ten seconds, less what passed before this process saw the request. */
const HANG_MS_MIN = 5_000;
const CATCH_UP_MS = 120_000;
const PAGE = 5_000;
const CHANGE_EVERY_MS = 500;
/** Of the switched endpoint. An attempt from before may arrive for some seconds, so less would check nothing. */
const OFF_MS = 20_000;
const ON_MS = 10_000;
/** Of each endpoint that is replaced. */
const LIVES_MS = 20_000;
const FAILING_SHARE = 0.02;
const ROTATE_AFTER_MS = 30_000;
/** An endpoint may have more at once, and each one takes time to verify. */
const SECRETS_MAX = 3;
/** The slow consumer takes everything but new tasks, of which writers make a hundred per second. */
const SLOW_TYPES = webhookApi.EVENT_TYPES.filter((type) => type !== 'task.created');

/** What the consumers show, and the address where they are: by default on this machine only. */
export interface Place {
  readonly identity: { readonly cert: string; readonly key: string };
  readonly host?: string;
}

interface Consumer {
  readonly name: string;
  readonly eventTypes: readonly string[];
  readonly isReplaced?: boolean;
  readonly answerOf: () => { readonly answer: Arrival['answer']; readonly afterMs?: number };
}

/**
 * Consumers of the webhooks of the demo workspace: a healthy one, a slow one, one that flaps, one whose endpoint is disabled and
 * enabled in turn, and one after the other whose endpoint is deleted. They write each request to a file, which is checked at the end, so memory does not grow with the length of a soak.
 */
export class WebhookConsumers implements AsyncDisposable {
  attempts = 0;
  readonly #system: CheckedSystem;
  readonly #directory = mkdtempSync(join(tmpdir(), 'wts-consumers-'));
  readonly #file = join(this.#directory, 'arrivals.jsonl');
  readonly #log = createWriteStream(this.#file);
  readonly #receivers = new AsyncDisposableStack();
  readonly #stop: AbortSignal;
  readonly #place: Place;
  readonly #endpoints: SoakEndpoint[] = [];
  readonly #openedMs = Date.now();
  #flaps = true;
  #from = '0';

  private constructor(system: CheckedSystem, stop: AbortSignal, place: Place) {
    this.#system = system;
    this.#stop = stop;
    this.#place = place;
  }

  /** Call it before anything is written: the endpoints must get every event after that. */
  static async open(system: CheckedSystem, stop: AbortSignal, place: Place): Promise<WebhookConsumers> {
    const consumers = new WebhookConsumers(system, stop, place);
    const slow = (): { answer: number; afterMs: number } => ({
      answer: 204,
      afterMs: SLOW_MS.least + Math.random() * SLOW_MS.more,
    });
    await consumers.#add({ name: 'healthy', eventTypes: [], answerOf: () => ({ answer: 204 }) });
    await consumers.#add({ name: 'flapping', eventTypes: [], answerOf: () => consumers.#flap() });
    await consumers.#add({ name: 'slow', eventTypes: SLOW_TYPES, answerOf: slow });
    consumers.#from = await consumers.#withDatabase(headOf);
    return consumers;
  }

  /** Lets the flapping consumer answer, waits for the last delivery, and compares all of them with the log. */
  async check(kills: readonly Span[]): Promise<WebhookReport> {
    this.#flaps = false;
    return this.#withDatabase(async (client) => {
      // What is pending after that is found as missing.
      await eventually(() => isDelivered(client), { deadlineMs: CATCH_UP_MS, everyMs: 250 }).catch(() => undefined);
      await this.#receivers.disposeAsync();
      this.#log.end();
      await once(this.#log, 'finish');
      const report = await checkWebhooks({
        endpoints: this.#endpoints,
        arrivals: arrivalsIn(this.#file),
        events: eventsOf(client, this.#system.workspaceId, this.#from),
        stepsMs: STEPS_MS,
        kills,
      });
      return { ...report, findings: [...report.findings, ...uncheckedIn(report)] };
    });
  }

  /** Changes endpoints until stopped. */
  async change(): Promise<void> {
    await Promise.all([this.#rotate([...this.#endpoints]), this.#switch(), this.#replace()]);
  }

  async #rotate(endpoints: readonly SoakEndpoint[]): Promise<void> {
    for (let count = 1; count < SECRETS_MAX; count += 1) {
      await rest(ROTATE_AFTER_MS, this.#stop);
      for (const endpoint of endpoints) if (!this.#stop.aborted) await endpoint.rotate();
    }
  }

  /** Disables and enables an endpoint in turn. */
  async #switch(): Promise<void> {
    let isGone = false;
    const goneBy = (isNow: boolean): void => void (isGone = isNow);
    const answerOf = (): { answer: number } => ({ answer: isGone ? 410 : 204 });
    const endpoint = await this.#add({ name: 'switched', eventTypes: [], answerOf });
    for (let count = 1; !this.#stop.aborted; count += 1) {
      await rest(ON_MS, this.#stop);
      if (this.#stop.aborted) return;
      await endpoint.disable(count % 2 === 0 ? goneBy : undefined);
      if (endpoint.secrets.length < SECRETS_MAX) await endpoint.rotate();
      await rest(OFF_MS, this.#stop);
      await endpoint.enable();
    }
  }

  /** Creates one endpoint after the other, and deletes each of them. */
  async #replace(): Promise<void> {
    for (let count = 1; !this.#stop.aborted; count += 1) {
      const answerOf = (): { answer: number } => ({ answer: Math.random() < FAILING_SHARE ? 500 : 204 });
      const endpoint = await this.#add({ name: `replaced ${count}`, eventTypes: [], isReplaced: true, answerOf });
      await rest(LIVES_MS / 2, this.#stop);
      if (!this.#stop.aborted) await endpoint.rotate();
      await rest(LIVES_MS / 2, this.#stop);
      if (!this.#stop.aborted) await endpoint.delete();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receivers.disposeAsync();
    // Destroying it during a write would end the program, before it says why it stops.
    if (!this.#log.closed) await once(this.#log.end(), 'close');
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #add({ name, eventTypes, isReplaced = false, answerOf }: Consumer): Promise<SoakEndpoint> {
    const opened: Receiver = this.#receivers.use(await receiver({ ...this.#place, stores: false }));
    const connections = new Set<number>();
    opened.answer((request) => {
      const { answer, afterMs = 0 } = answerOf();
      const isReused = connections.has(request.connection);
      connections.add(request.connection);
      this.#write(name, request, { answer, isReused, afterMs: answer === 'hang' ? HANG_MS_MIN : afterMs });
      return typeof answer === 'number' ? { status: answer, afterMs } : answer;
    });
    const endpoint = await SoakEndpoint.create({
      system: this.#system,
      stop: this.#stop,
      name,
      eventTypes,
      isReplaced,
      url: opened.url,
    });
    this.#endpoints.push(endpoint);
    return endpoint;
  }

  #flap(): { answer: Arrival['answer'] } {
    let leftMs = this.#flaps ? (Date.now() - this.#openedMs) % CYCLE_MS : 0;
    for (const { answer, ms } of PHASES) {
      if (leftMs < ms) return { answer };
      leftMs -= ms;
    }
    return { answer: 204 };
  }

  #write(
    endpoint: string,
    { at: atMs, headers, body }: Received,
    { answer, isReused, afterMs }: Pick<Arrival, 'answer' | 'isReused'> & { readonly afterMs: number },
  ): void {
    this.attempts += 1;
    const kept = Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headers[name]?.toString()]),
    );
    const arrival: Arrival = { endpoint, atMs, headers: kept, body, answer, endedMs: atMs + afterMs, isReused };
    this.#log.write(`${JSON.stringify(arrival)}\n`);
  }

  async #withDatabase<T>(work: (client: Client) => Promise<T>): Promise<T> {
    await using client = await connectTo(this.#system.database.url);
    return await work(client);
  }
}

/** Splits at line feeds only: JSON may contain U+2028, which `readline` takes for the end of a line. */
export async function* arrivalsIn(file: string): AsyncGenerator<Arrival> {
  let begun = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (begun + String(chunk)).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Arrival;
  }
}

/** Makes every kind of event, one after the other, until stopped. */
export async function changeEveryKind(system: CheckedSystem, stop: AbortSignal): Promise<void> {
  const { workspaceId, apiKey: token } = system;
  const author = { token, clientId: randomUUID() };
  while (!stop.aborted) {
    const [projectId, taskId, commentId] = [randomUUID(), randomUUID(), randomUUID()];
    const changes: readonly Change[] = [
      ['Project', projectId, 'INSERT', { workspaceId, key: `P${projectId.slice(0, 8)}`, name: 'Every kind' }],
      ['Task', taskId, 'INSERT', { workspaceId, projectId, title: 'Every kind' }],
      ['Comment', commentId, 'INSERT', { workspaceId, taskId, body: 'Written' }],
      ['Comment', commentId, 'UPDATE', { body: 'Changed ✓' }],
      ['Task', taskId, 'UPDATE', { title: 'Renamed: "quoted" \u2028 💾' }],
      ['Task', taskId, 'UPDATE', { completedAt: new Date().toISOString() }],
      ['Task', taskId, 'ARCHIVE', {}],
      ['Task', taskId, 'UNARCHIVE', {}],
      ['Project', projectId, 'UPDATE', { status: 'done' }],
      ['Project', projectId, 'ARCHIVE', {}],
      ['Project', projectId, 'UNARCHIVE', {}],
      ['Comment', commentId, 'DELETE', {}],
      // Its task is deleted with it.
      ['Project', projectId, 'DELETE', {}],
    ];
    for (const one of changes) {
      await change(system, author, one, stop);
      await rest(CHANGE_EVERY_MS, stop);
    }
  }
}

async function headOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ head: string }>(
    'select coalesce(max(sync_id), 0)::text as head from sync.sync_actions',
  );
  return rows[0]?.head ?? '0';
}

/** What a soak did not do, so that its guarantee was not checked. */
function uncheckedIn({ retries, changes }: WebhookReport): AuditFinding[] {
  const missing: readonly (readonly [number, AuditFinding])[] = [
    [
      retries,
      { guarantee: 'retry-schedule', seen: 'no delivery was attempted again, so the schedule was not checked' },
    ],
    [changes.rotated, { guarantee: 'signature-verifies', seen: 'no secret was rotated' }],
    [changes.disabled, { guarantee: 'nothing-foreign', seen: 'no endpoint was disabled' }],
    [changes.deleted, { guarantee: 'nothing-foreign', seen: 'no endpoint was deleted' }],
  ];
  return missing.flatMap(([count, finding]) => (count > 0 ? [] : [finding]));
}

/** True when the whole log was turned into deliveries and none is pending. Those of a deleted endpoint are removed later. */
async function isDelivered(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ delivered: boolean }>(
    `select not exists (
         select from webhooks.workspaces w join sync.sync_actions a on group_id = w.workspace_id and sync_id > position
         where exists (select from webhooks.endpoints e where e.workspace_id = w.workspace_id and enabled)
       ) and not exists (
         select from webhooks.endpoints e join webhooks.deliveries d on d.endpoint_id = e.id
         where e.deleted_at is null and d.status = 'pending'
       ) as delivered`,
  );
  return rows[0]?.delivered === true;
}

const VERBS: { readonly [action: string]: string } = {
  INSERT: 'created',
  UPDATE: 'updated',
  ARCHIVE: 'archived',
  UNARCHIVE: 'updated',
  DELETE: 'deleted',
};

/** The events of the workspace itself: private projects have groups of their own. */
async function* eventsOf(client: Client, workspaceId: string, from: string): AsyncGenerator<LoggedEvent> {
  for (let after = from; ;) {
    const { rows } = await client.query<{
      position: string;
      id: string;
      model: string;
      action: string;
      completes: boolean;
    }>(
      `select sync_id::text as position, event_id::text as id, model, action, completes from sync.sync_actions
       where group_id = $1 and sync_id > $2 order by sync_id limit ${PAGE}`,
      [workspaceId, after],
    );
    for (const { position, id, model, action, completes } of rows) {
      const noun = findModel(model)?.event;
      if (noun !== undefined) yield { position, id, type: `${noun}.${completes ? 'completed' : VERBS[action]}` };
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}
