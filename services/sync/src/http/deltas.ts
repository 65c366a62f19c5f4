import { Fault, parseSyncId, syncApi } from '@wts/contracts';
import { mountStream } from '@wts/service-kit';
import type { Router } from 'express';
import type { DeltasSources } from '../deltas/read-deltas.ts';
import { clampLimit, readDeltas } from '../deltas/read-deltas.ts';

/** GET /sync/deltas. A caller that names groups, even none, reads letters. Keeps sync.deltas.answer. */
export function mountDeltas(router: Router, sources: DeltasSources): void {
  mountStream(router, syncApi.deltas, async ({ principal, query, res }) => {
    const { syncGroups, actions } = query;
    const after = parseSyncId(query.after ?? '0');
    if (after === null)
      throw new Fault('validation_failed', { message: 'query/after is larger than any place in the log' });
    const named = (syncGroups ?? '')
      .split(',')
      .map((group) => group.trim())
      .filter((group) => group !== '');
    const text = await readDeltas(sources, {
      userId: principal.userId,
      workspaceId: principal.workspaceId,
      after,
      limit: clampLimit(query.limit),
      asked: new Set(named),
      dialect: actions ?? (syncGroups === undefined ? 'words' : 'letters'),
    });
    res.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
    });
    res.end(text);
  });
}
