import { syncApi } from '@wts/contracts';
import { mountStream } from '@wts/service-kit/routes';
import type { Router } from 'express';
import { readBatch, type Batches } from '../batch/batch.ts';
import { chooseEncoding, sendProduction } from '../snapshots/send.ts';

/** POST /sync/batch: records by key or group; nothing found is an empty answer. Keeps sync.batch.ndjson. */
export function mountBatch(router: Router, batches: Batches): void {
  mountStream(router, syncApi.batch, async ({ principal, body, req, res, signal }) => {
    using answer = await batches.answer(readBatch(principal, body), chooseEncoding(req), signal);
    await sendProduction(res, answer, '');
  });
}
