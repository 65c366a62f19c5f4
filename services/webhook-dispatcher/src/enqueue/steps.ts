import type { StoredEntry } from '@wts/contracts';
import { pause } from '@wts/log/stream';
import type { Logger } from '@wts/log';
import { FairQueue } from '@wts/service-kit/fairness';
import { endSpan, startLinkedSpan, type Span } from '@wts/service-kit/observe';
import type { Pool } from 'pg';
import type { EventTraces } from '../domain/event-traces.ts';
import { eventOf, storedEvent, type StoredEvent } from '../domain/event.ts';
import { enqueue, readPages, type ParkedEntry, type Step, type WorkspacePage } from '../store/enqueue.ts';
import { updateOwners, type FollowedWorkspace } from '../store/workspaces.ts';
import type { EnqueueMetrics } from './metrics.ts';

export interface StepsOptions {
  readonly pool: Pool;
  /** Called after the commit, with the endpoints that have new deliveries. */
  readonly onEnqueued: (endpointIds: readonly string[]) => void;
  readonly traces?: EventTraces;
  /** Called before `onEnqueued`, with the events that have one. */
  readonly onTraced?: (traces: ReadonlyMap<string, string>) => void;
  readonly metrics: EnqueueMetrics;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Steps at once, each of other owners, so that a long step of one owner delays no other one. */
const STEPS_AT_ONCE = 2;
/** Of one step: a statement of some milliseconds. */
const STEP_WORKSPACES_MAX = 32;
const STEP_DELIVERIES_MAX = 200;
const STEP_BYTES_MAX = 1024 * 1024;
const RETRY_MS = 250;
/** An entry that PostgreSQL refuses is parked after so many tries. */
const TRIES_MAX = 3;
const TRY_AGAIN_MS = 50;
const REASON_MAX = 500;

/**
 * Turns the entries of workspaces into deliveries, step by step: at once when idle, and together what gathered meanwhile.
 * Workspaces wait by their owner; the owners in a step have equal parts of its deliveries, so an owner with a backlog waits
 * behind that alone. A step reads cursors and entries together and moves each cursor from where it was read, so no step
 * depends on the one before. Keeps webhooks.fairness.neighbors.
 */
export class Steps {
  readonly #options: StepsOptions;
  readonly #queue = new FairQueue<FollowedWorkspace>();
  /** Those in the queue. */
  readonly #waiting = new Set<string>();
  /** Owners with a step under way. */
  readonly #busy = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  #isFailing = false;

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  /** These workspaces may have entries behind their cursors. */
  add(workspaces: readonly FollowedWorkspace[]): void {
    for (const workspace of workspaces) {
      if (this.#waiting.has(workspace.workspaceId)) continue;
      this.#waiting.add(workspace.workspaceId);
      this.#queue.push(workspace.ownerId, workspace);
    }
    this.#advance();
  }

  /** Resolves when no step is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #advance(): void {
    while (this.#underWay.size < STEPS_AT_ONCE && !this.#options.signal.aborted) {
      const batch = this.#next();
      if (batch.length === 0) break;
      const step = this.#run(batch).finally(() => {
        this.#underWay.delete(step);
        for (const { ownerId } of batch) this.#busy.delete(ownerId);
        this.#advance();
      });
      this.#underWay.add(step);
    }
    this.#options.metrics.behind.set(this.#queue.size);
  }

  #next(): FollowedWorkspace[] {
    const batch: FollowedWorkspace[] = [];
    while (batch.length < STEP_WORKSPACES_MAX) {
      const next = this.#queue.shift((ownerId) => !this.#busy.has(ownerId));
      if (next === undefined) break;
      this.#waiting.delete(next.item.workspaceId);
      batch.push(next.item);
    }
    for (const { ownerId } of batch) this.#busy.add(ownerId);
    return batch;
  }

  async #run(batch: readonly FollowedWorkspace[]): Promise<void> {
    const { pool, logger, metrics, signal } = this.#options;
    try {
      const pages = (await readPages(pool, sizesOf(batch))).filter(({ entries }) => entries.length > 0);
      for (const { workspaceId, from, trimmed } of pages) {
        if (trimmed === 0) continue;
        metrics.trimmed.inc(trimmed);
        logger.error(
          { workspaceId, from },
          'entries of the log were dropped before they became events: webhooks are lost',
        );
      }
      const moved = pages.length === 0 ? new Set<string>() : await this.#write(pages);
      if (this.#isFailing) logger.info({}, 'events are written again');
      this.#isFailing = false;
      const more = new Set(pages.filter(({ hasMore }) => hasMore).map(idOf));
      this.add(batch.filter(({ workspaceId }) => moved.has(workspaceId) && more.has(workspaceId)));
      // Its cursor is being moved by another replica, or its workspace gets an endpoint.
      const held = batch.filter(({ workspaceId }) => pages.some(isOf(workspaceId)) && !moved.has(workspaceId));
      if (held.length > 0) setTimeout(() => this.add(held), TRY_AGAIN_MS).unref();
    } catch (err) {
      if (signal.aborted) return;
      if (!this.#isFailing) logger.warn({ err }, 'events cannot be written; trying again. Check PostgreSQL');
      this.#isFailing = true;
      await pause(RETRY_MS, signal);
      this.add(batch);
    }
  }

  /**
   * Returns the workspaces whose cursors moved. What PostgreSQL refuses for its content is written in parts, and parked when
   * it is one entry.
   */
  async #write(pages: readonly WorkspacePage[], tries = 1): Promise<ReadonlySet<string>> {
    try {
      return await this.#step(pages, null);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null || this.#options.signal.aborted) throw error;
      if (tries === 1 && partsOf(pages).length > 1) return this.#writeParts(partsOf(pages));
      if (tries >= TRIES_MAX) return this.#step(pages, reason);
      await pause(TRY_AGAIN_MS, this.#options.signal);
      return this.#write(pages, tries + 1);
    }
  }

  async #enqueueTraced(pool: Pool, step: Step): ReturnType<typeof enqueue> {
    const startedAt = new Date();
    try {
      const result = await enqueue(pool, step);
      // Only now, because what was read from the log may be here before the message that names its trace.
      const traces = this.#options.traces?.among(step.events);
      endSpan(spanOf(traces, startedAt), undefined, {
        'wts.events': step.events.length,
        'wts.deliveries': result.deliveries,
      });
      if (traces !== undefined && traces.size > 0) this.#options.onTraced?.(traces);
      return result;
    } catch (failure) {
      endSpan(spanOf(this.#options.traces?.among(step.events), startedAt), failure);
      throw failure;
    }
  }

  /** One after the other. A workspace whose cursor is moved by another replica meanwhile counts as not moved. */
  async #writeParts(parts: readonly (readonly WorkspacePage[])[]): Promise<ReadonlySet<string>> {
    let moved: ReadonlySet<string> = new Set(parts.flat().map(idOf));
    for (const part of parts) {
      const written = await this.#write(part);
      moved = moved.difference(new Set(part.map(idOf)).difference(written));
    }
    return moved;
  }

  async #step(pages: readonly WorkspacePage[], refusal: string | null): Promise<ReadonlySet<string>> {
    const { pool, metrics, onEnqueued, logger } = this.#options;
    const step = stepOf(pages, refusal);
    const result = await this.#enqueueTraced(pool, step);
    const moved = new Set(result.moved);
    // Without the reason, which may have a piece of the record in it.
    for (const { position } of step.parked)
      logger.error({ position }, 'an entry of the log became no event: see webhooks.parked_entries');
    metrics.parked.inc(step.parked.length);
    metrics.events.inc(step.events.length);
    metrics.deliveries.inc(result.deliveries);
    const [first] = step.events;
    if (first !== undefined) metrics.delaySeconds.observe(Math.max(0, Date.now() - Date.parse(first.createdAt)) / 1000);
    if (result.endpointIds.length > 0) onEnqueued(result.endpointIds);
    const changed = pages.filter(({ entries }) => entries.some(({ modelName }) => modelName === 'WorkspaceMember'));
    if (changed.length > 0) await updateOwners(pool, changed.map(idOf));
    return moved;
  }
}

function spanOf(traces: ReadonlyMap<string, string> | undefined, startedAt: Date): Span | null {
  return startLinkedSpan('enqueue events', { kind: 'CONSUMER', causes: [...new Set(traces?.values())], startedAt });
}

const isOf = (id: string) => (page: WorkspacePage) => page.workspaceId === id;
const idOf = ({ workspaceId }: { readonly workspaceId: string }): string => workspaceId;

/** Owners have equal parts of a step, and so have the workspaces of one owner. */
function sizesOf(
  batch: readonly FollowedWorkspace[],
): { workspaceId: string; deliveriesMax: number; bytesMax: number }[] {
  const byOwner = Map.groupBy(batch, ({ ownerId }) => ownerId);
  return batch.map(({ workspaceId, ownerId }) => {
    const parts = byOwner.size * (byOwner.get(ownerId)?.length ?? 1);
    const [deliveriesMax, bytesMax] = [STEP_DELIVERIES_MAX, STEP_BYTES_MAX].map((max) => Math.ceil(max / parts));
    return { workspaceId, deliveriesMax: deliveriesMax as number, bytesMax: bytesMax as number };
  });
}

/** The pages of a step one by one, or the halves of its only page; one part when it is a single entry. */
function partsOf(pages: readonly WorkspacePage[]): (readonly WorkspacePage[])[] {
  const [page, ...more] = pages;
  if (page === undefined || more.length > 0) return pages.map((one) => [one]);
  const { entries } = page;
  const middle = Math.floor(entries.length / 2);
  const border = entries[middle - 1]?.syncId;
  if (border === undefined) return [pages];
  return [
    [{ ...page, to: border, entries: entries.slice(0, middle) }],
    [{ ...page, from: border, entries: entries.slice(middle) }],
  ];
}

function stepOf(pages: readonly WorkspacePage[], refusal: string | null): Step {
  const events: StoredEvent[] = [];
  const parked: ParkedEntry[] = [];
  const deletedWorkspaces: string[] = [];
  for (const { workspaceId, entries } of pages) {
    for (const entry of entries) {
      try {
        if (refusal !== null) throw new Error(refusal);
        if (entry.modelName === 'Workspace' && entry.action === 'DELETE') deletedWorkspaces.push(entry.modelId);
        const event = eventOf(entry);
        if (event !== null) events.push(storedEvent(event));
      } catch (error) {
        parked.push({ workspaceId, position: entry.syncId, reason: textOf(error), entry: jsonOf(entry) });
      }
    }
  }
  return { pages, events, parked, deletedWorkspaces };
}

/** Data exceptions, broken constraints, exceeded limits: the content is what is wrong. Null for all else. */
function reasonOf(error: unknown): string | null {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^(?:22|23|54)[0-9A-Z]{3}$/.test(code) ? `${code} ${textOf(error)}` : null;
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX);
}

function jsonOf(entry: StoredEntry): string {
  try {
    return JSON.stringify(entry);
  } catch {
    // Nested too deeply to be written; the log still has it.
    return JSON.stringify({ ...entry, data: null, record: null });
  }
}
