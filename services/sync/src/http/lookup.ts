import { syncApi } from '@wts/contracts';
import { mountStream } from '@wts/service-kit/routes';
import type { Router } from 'express';
import { parseLookup, type Lookups } from '../lookup/lookup.ts';
import { chooseEncoding, sendSnapshot } from '../snapshots/send.ts';

/** POST /sync/batch: records by key or group; the answer is empty when none is found. Keeps sync.batch.ndjson. */
export function mountLookup(router: Router, lookups: Lookups): void {
  mountStream(router, syncApi.batch, async ({ principal, body, req, res, signal }) => {
    using answer = await lookups.answer(parseLookup(principal, body), chooseEncoding(req), signal);
    await sendSnapshot(res, answer, '');
  });
}
