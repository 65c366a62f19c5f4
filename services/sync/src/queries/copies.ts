import { Fault, formatSyncId, parseSyncId, syncApi, type Contract } from '@wts/contracts';
import { LogReader, type Queryable } from '@wts/log';
import { digestCopy, readCopyChanges, readCopyKeys, readCopyPage, readKeys } from '../store/copies.ts';
import { mountable, type RecordRead } from './records.ts';

/** Their turns are those of one person: a move has time. */
const moves = (): string => 'moves';

/**
 * What auth reads to copy a workspace to another cell, from the primary. Each answer names the position up to which it is known. `shard` is
 * SHARD, which auth compares with CELLS.
 */
export function copyReads(shard: number): readonly RecordRead<Contract>[] {
  return [
    mountable(syncApi.internalReadWorkspacePage, moves, ({ workspaceId, model, after, limit }) => async (database) => {
      await requireWorkspace(database, workspaceId);
      // The head first: what is committed while the page is read follows it.
      const { head } = await new LogReader(database).head();
      const page = await readCopyPage(database, workspaceId, { model, after: cursorOf(after), limit });
      if (page === null)
        throw new Fault('validation_failed', { message: 'body/model: nothing is copied by this name' });
      const next = page.next === null ? null : JSON.stringify(page.next);
      return { records: page.records, next, lastSyncId: formatSyncId(head) };
    }),
    mountable(
      syncApi.internalReadWorkspaceEntries,
      moves,
      ({ workspaceId, after: from, limit }) =>
        async (database) => {
          const { head, floor } = await new LogReader(database).head();
          if (from === undefined) return { records: [], keys: [], lastSyncId: formatSyncId(head), more: false, shard };
          const after = positionOf(from);
          if (after < floor || after > head) throw new Fault('bootstrap_required');
          const range = { workspaceId, after, through: head, limit };
          const { records, reached, more } = await readCopyChanges(database, range);
          const keys = workspaceId === null ? [] : await readKeys(database, { ...range, through: reached });
          return { records, keys, lastSyncId: formatSyncId(reached), more, shard };
        },
    ),
    mountable(syncApi.internalReadWorkspaceKeys, moves, ({ workspaceId, after, through, limit }) => {
      const range = { workspaceId, after: positionOf(after), through: positionOf(through), limit };
      return async (database) => {
        const { keys, usedGroups, reached, more } = await readCopyKeys(database, range);
        return { keys, usedGroups, lastSyncId: formatSyncId(reached), more };
      };
    }),
    mountable(syncApi.internalDigestWorkspace, moves, ({ workspaceId, models }) => async (database) => {
      await requireWorkspace(database, workspaceId);
      return { models: await digestCopy(database, workspaceId, models) };
    }),
  ];
}

async function requireWorkspace(database: Queryable, workspaceId: string): Promise<void> {
  const { rows } = await database.query('select from sync.workspaces where id = $1', [workspaceId]);
  if (rows.length === 0) throw new Fault('not_found');
}

function cursorOf(text: string | undefined): readonly string[] | null {
  try {
    return text === undefined ? null : (JSON.parse(text) as readonly string[]);
  } catch (cause) {
    throw new Fault('validation_failed', { message: 'body/after must be the `next` of an earlier answer', cause });
  }
}

function positionOf(text: string): bigint {
  const position = parseSyncId(text);
  if (position === null) throw new Fault('validation_failed', { message: 'body: a position must be one of the log' });
  return position;
}
