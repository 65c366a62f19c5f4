import { Fault, LIMITS } from '@wts/contracts';
import type { Queryable } from '@wts/log';
import { GroupReader, Visibility, pageReader } from '@wts/read-model';
import type { FirstPage, GroupCache, GroupSource, ReadPage, Reader, Standby } from '@wts/read-model';
import { ENTRY_FORMATTERS, type ActionSpelling } from './action-spelling.ts';
import { walk } from './walk.ts';
import { SYNC_LIMITS } from '../limits.ts';

export interface DeltasSources {
  readonly groups: GroupSource;
  readonly readPage: ReadPage;
  /** By one statement in place of two; null when it cannot, or when a database replica has the pages. */
  readonly readFirst: (request: DeltasRequest, limit: number) => Promise<FirstPage | null>;
}

export function deltasSources(database: Queryable, standby: Standby | null, cache?: GroupCache): DeltasSources {
  const groups = new GroupReader(database, cache);
  return {
    groups,
    readPage: pageReader(database, standby),
    readFirst: async (request, limit) =>
      standby === null ? groups.ofWithPage(request, request.requested, { after: request.after, limit }) : null,
  };
}

export interface DeltasRequest extends Reader {
  readonly after: bigint;
  readonly limit: number;
  /** Groups to narrow to; empty for all the reader may see. */
  readonly requested: ReadonlySet<string>;
  readonly spelling: ActionSpelling;
}

/**
 * Reads one page of the log for a poller, as the JSON text of a `DeltasReply`.
 *
 * The horizon is the position for which the reader's groups are exact. No entry beyond it is sent, because a loss could be
 * among them; up to it the page is complete. So a page that is not full carries the horizon as its cursor, and the cursor of
 * a reader without news advances with the log.
 *
 * Keeps sync.deltas.answer, sync.deltas.after-exclusive, sync.deltas.paging, sync.deltas.horizon and
 * sync.deltas.stale-cursor.
 * Keeps sync.deltas.own-groups.
 */
export async function readDeltas(sources: DeltasSources, request: DeltasRequest): Promise<string> {
  const { after, limit, requested, spelling } = request;
  let step = Math.min(Math.max(limit, STEP_MIN), STEP_FIRST);
  const first = await sources.readFirst(request, step + 1);
  const visibility =
    first?.visibility ??
    new Visibility(request, await sources.groups.of(request.userId, request.workspaceId), requested);
  const { at: horizon, floor: known, epoch } = visibility;
  // A cursor beyond the horizon is of another log, such as the one before a backup was restored.
  if (after > horizon || after < known) return unreachable(request);

  const { groupsToRead: groups } = visibility;
  const texts: string[] = [];
  let bytes = 0;
  let cursor = after;
  let hasMore = after < horizon;
  const isFull = (): boolean => texts.length === limit || bytes >= SYNC_LIMITS.deltasBytesMax;
  const take = (_id: bigint, text: string): boolean => {
    texts.push(text);
    bytes += Buffer.byteLength(text);
    return !isFull();
  };
  for (let ready = first?.page; hasMore && !isFull(); ready = undefined) {
    const range = { groups, after: cursor, limit: step + 1, upTo: horizon };
    const { entries, floor } = ready ?? (await sources.readPage(range, epoch));
    // The log was trimmed meanwhile: the request for the next page gets the fault.
    if (cursor < floor) return texts.length === 0 ? unreachable(request) : reply(cursor, true, texts);
    const page = entries.slice(0, step);
    const before = texts.length;
    const { reached, before: stop } = walk(page, { visibility, spelling, after: cursor, upTo: horizon, take });
    // A client in letters gets BOOTSTRAP_REQUIRED by its socket.
    if (stop !== undefined) return reply(stop - 1n, false, texts);
    cursor = reached;
    hasMore = entries.length > step || (page.at(-1)?.id ?? cursor) > cursor;
    const isAllShown = texts.length - before === page.length;
    step = Math.min(step * STEP_GROWS, STEP_MAX, isAllShown ? Math.max(limit - texts.length, STEP_MIN) : STEP_MAX);
  }
  return reply(hasMore ? cursor : horizon, hasMore, texts);
}

/**
 * A page is read in steps, so that a page of large entries is full before `limit` entries are in memory. The steps grow, so
 * small entries and entries that the reader may not see need few of them; so does a page of one entry behind some that the
 * reader may not see. No step takes the event loop for longer than a few milliseconds.
 */
const STEP_MIN = 8;
const STEP_FIRST = 256;
const STEP_GROWS = 2;
const STEP_MAX = 512;

function unreachable({ spelling, after }: DeltasRequest): string {
  if (!ENTRY_FORMATTERS[spelling].recoversFromFault) return reply(after, false, []);
  throw new Fault('bootstrap_required');
}

function reply(lastSyncId: bigint, hasMore: boolean, actions: readonly string[]): string {
  return `{"lastSyncId":"${lastSyncId}","hasMore":${hasMore},"actions":[${actions.join(',')}]}`;
}

/** The page size, clamped to its bounds. Keeps sync.deltas.limit-clamped. */
export function clampLimit(requested: string | undefined): number {
  if (requested === undefined) return LIMITS.deltasLimitDefault;
  return Math.min(Math.max(Number(requested), 1), LIMITS.deltasLimitMax);
}
