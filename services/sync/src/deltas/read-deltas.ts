import { Fault, LIMITS } from '@wts/contracts';
import type { Dialect, EntrySource } from './entry.ts';
import { Entry } from './entry.ts';

export interface DeltasSources {
  /** The groups a person may see, exact for a place in the log; that place is the head at the time of asking. */
  readonly groups: { of(userId: string, workspaceId?: string): Promise<{ groups: ReadonlySet<string>; at: bigint }> };
  /** Entries of these groups in (after, upTo], and the place up to which the log was trimmed, of one snapshot. */
  readonly readEntries: (
    groups: readonly string[],
    after: bigint,
    limit: number,
    upTo: bigint,
  ) => Promise<{ entries: readonly EntrySource[]; floor: bigint }>;
}

export interface DeltasQuestion {
  readonly userId: string;
  /** The workspace a credential is limited to. */
  readonly workspaceId: string | undefined;
  readonly after: bigint;
  readonly limit: number;
  /** Groups to narrow to; null for all the caller may see. */
  readonly requested: ReadonlySet<string> | null;
  readonly dialect: Dialect;
}

/**
 * One page of the log for a poller, as the JSON text of a `DeltasReply`.
 *
 * The horizon is the place the caller's groups are exact for. Nothing beyond it is shown, because a loss could stand
 * there; up to it nothing is left out, so a page that is not full carries the horizon as its cursor and a quiet caller
 * moves on with the log.
 */
export async function readDeltas(sources: DeltasSources, question: DeltasQuestion): Promise<string> {
  const { userId, workspaceId, after, limit, requested, dialect } = question;
  const { groups, at } = await sources.groups.of(userId, workspaceId);
  // A place that is not there yet: the cursor is of another log, such as the one before a backup was restored.
  if (after > at) return unreachable(question);

  const visible = requested === null ? groups : groups.intersection(requested);
  const { entries, floor } = await sources.readEntries([...visible], after, limit + 1, at);
  if (after < floor) return unreachable(question);

  const page = entries.slice(0, limit);
  const hasMore = entries.length > limit;
  const lastSyncId = hasMore ? (page.at(-1)?.syncId ?? after.toString()) : at.toString();
  const texts = page.map((source) => {
    const entry = new Entry(source);
    const isSwitch = dialect === 'letters' && entry.movesPerson && entry.groupId === userId;
    return isSwitch ? entry.groupChangeText(userId, groups) : entry.text(dialect);
  });
  return reply(lastSyncId, hasMore, texts);
}

/** Callers in words get a fault. Those in letters cannot recover from one here; they learn it on their socket. */
function unreachable({ dialect, after }: DeltasQuestion): string {
  if (dialect === 'letters') return reply(after.toString(), false, []);
  throw new Fault('bootstrap_required', {
    message: 'The log does not hold what follows this cursor: load a snapshot, then go on from its lastSyncId',
  });
}

function reply(lastSyncId: string, hasMore: boolean, actions: readonly string[]): string {
  return `{"lastSyncId":"${lastSyncId}","hasMore":${hasMore},"actions":[${actions.join(',')}]}`;
}

/** A page size within its bounds, whatever was asked for. */
export function clampLimit(asked: string | undefined): number {
  if (asked === undefined) return LIMITS.deltasLimitDefault;
  return Math.min(Math.max(Number(asked), 1), LIMITS.deltasLimitMax);
}
