import { Fault, LIMITS } from '@wts/contracts';
import { Visibility, type GroupSource, type ReadPage, type Reader } from '@wts/read-model';
import { EXITS, type Dialect } from './dialect.ts';
import { walk } from './walk.ts';

export interface DeltasSources {
  readonly groups: GroupSource;
  readonly readPage: ReadPage;
}

export interface DeltasQuestion extends Reader {
  readonly after: bigint;
  readonly limit: number;
  /** Groups to narrow to; empty for all the reader may see. */
  readonly asked: ReadonlySet<string>;
  readonly dialect: Dialect;
}

/**
 * One page of the log for a poller, as the JSON text of a `DeltasReply`.
 *
 * The horizon is the place the reader's groups are exact for. Nothing beyond it is shown, because a loss could stand
 * there; up to it nothing is left out, so a page that is not full carries the horizon as its cursor and a quiet reader
 * moves on with the log.
 *
 * Keeps sync.deltas.answer, sync.deltas.after-exclusive, sync.deltas.paging, sync.deltas.horizon and
 * sync.deltas.stale-cursor.
 * Keeps sync.deltas.own-groups.
 */
export async function readDeltas(sources: DeltasSources, question: DeltasQuestion): Promise<string> {
  const { after, limit, asked, dialect } = question;
  const visibility = new Visibility(question, await sources.groups.of(question.userId, question.workspaceId), asked);
  const { at: horizon, floor: known, epoch } = visibility;
  // A place that is not there yet: the cursor is of another log, such as the one before a backup was restored.
  if (after > horizon || after < known) return unreachable(question);

  const { groupsToRead: groups } = visibility;
  const texts: string[] = [];
  let bytes = 0;
  let cursor = after;
  let hasMore = after < horizon;
  const isFull = (): boolean => texts.length === limit || bytes >= LIMITS.deltasBytesMax;
  const take = (_id: bigint, text: string): boolean => {
    texts.push(text);
    bytes += Buffer.byteLength(text);
    return !isFull();
  };
  for (let step = Math.min(limit, STEP_FIRST); hasMore && !isFull();) {
    const range = { groups, after: cursor, limit: step + 1, upTo: horizon };
    const { entries, floor } = await sources.readPage(range, epoch);
    // What was trimmed meanwhile is told to whoever comes for the next page.
    if (cursor < floor) return texts.length === 0 ? unreachable(question) : reply(cursor, true, texts);
    const page = entries.slice(0, step);
    const before = texts.length;
    const { reached, before: stop } = walk(page, { visibility, dialect, after: cursor, upTo: horizon, take });
    // As for any cursor that cannot be gone on from, the socket tells such a client.
    if (stop !== undefined) return reply(stop - 1n, false, texts);
    cursor = reached;
    hasMore = entries.length > step || (page.at(-1)?.id ?? cursor) > cursor;
    const isAllShown = texts.length - before === page.length;
    step = Math.min(step * STEP_GROWS, STEP_MAX, isAllShown ? limit - texts.length : STEP_MAX);
  }
  return reply(hasMore ? cursor : horizon, hasMore, texts);
}

/**
 * A page is gathered in steps, so that a page of large entries is full before all that were asked for are in memory. The
 * steps grow: few are needed for small entries, and for those that are passed without being shown. None takes the event
 * loop for longer than a few milliseconds.
 */
const STEP_FIRST = 256;
const STEP_GROWS = 2;
const STEP_MAX = 512;

function unreachable({ dialect, after }: DeltasQuestion): string {
  if (!EXITS[dialect].recoversFromFault) return reply(after, false, []);
  throw new Fault('bootstrap_required', {
    message: 'This cursor is no longer in the log. Run a bootstrap and continue from its lastSyncId.',
  });
}

function reply(lastSyncId: bigint, hasMore: boolean, actions: readonly string[]): string {
  return `{"lastSyncId":"${lastSyncId}","hasMore":${hasMore},"actions":[${actions.join(',')}]}`;
}

/** A page size within its bounds, whatever was asked for. Keeps sync.deltas.limit-clamped. */
export function clampLimit(asked: string | undefined): number {
  if (asked === undefined) return LIMITS.deltasLimitDefault;
  return Math.min(Math.max(Number(asked), 1), LIMITS.deltasLimitMax);
}
