import { Fault, parseSyncId, syncApi } from '@wts/contracts';
import { sendInPieces } from '@wts/service-kit/http';
import { mountStream } from '@wts/service-kit/routes';
import type { Router } from 'express';
import { namesIn } from '../bootstrap/parsed-bootstrap.ts';
import type { Pages } from '../deltas/pages.ts';
import type { LoopTurns } from '@wts/service-kit/fairness';
import { clampLimit } from '../deltas/read-deltas.ts';

/** GET /sync/deltas. A request with `syncGroups`, even an empty one, gets letters by default. Keeps sync.deltas.answer. */
export function mountDeltas(router: Router, pages: Pages, turns: LoopTurns): void {
  mountStream(router, syncApi.deltas, async ({ principal, query, res, signal }) => {
    const { syncGroups, actions } = query;
    const after = parseSyncId(query.after ?? '0');
    if (after === null)
      throw new Fault('validation_failed', { message: 'query/after is larger than any position in the log' });
    const request = {
      userId: principal.userId,
      workspaceId: principal.workspaceId,
      after,
      limit: clampLimit(query.limit),
      requested: new Set(namesIn(syncGroups)),
      spelling: actions ?? (syncGroups === undefined ? ('words' as const) : ('letters' as const)),
    };
    using page = await pages.read(request, signal);
    res.writeHead(200, {
      'content-type': 'application/json',
      'content-length': page.bytes.length,
      'cache-control': 'no-store',
    });
    const person = principal.userId;
    await sendInPieces(res, page.bytes, {
      turn: (bytes) => turns.take(person, bytes),
      stalledMs: () => pages.stalledMs(person),
    });
  });
}
