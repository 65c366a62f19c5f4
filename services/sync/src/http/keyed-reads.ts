import { syncApi } from '@wts/contracts';
import { mountStream } from '@wts/service-kit/routes';
import type { Router } from 'express';
import { parseKeyedRead, type KeyedReads } from '../keyed-reads/keyed-reads.ts';
import type { OpenAnswers } from '../snapshots/open-answers.ts';
import { chooseEncoding, sendSnapshot } from '../snapshots/send.ts';

/** POST /sync/batch: records by key or group; the answer is empty when none is found. Keeps sync.batch.ndjson. */
export function mountKeyedReads(router: Router, keyedReads: KeyedReads, openAnswers: OpenAnswers): void {
  mountStream(router, syncApi.batch, (call) =>
    openAnswers.run(call, async (signal) => {
      const { principal, body, req, res } = call;
      using answer = await keyedReads.answer(parseKeyedRead(principal, body), chooseEncoding(req), signal);
      await sendSnapshot(res, answer, '');
    }),
  );
}
