import { mount } from '@wts/service-kit/routes';
import type { Contract } from '@wts/contracts';
import type { Router } from 'express';
import type { Reads } from '../fairness/reads.ts';
import type { RecordRead } from '../queries/records.ts';

/** POST /internal/records/*, and of /internal/moves/* what the auth service reads. */
export function mountRecords(router: Router, reads: Reads, all: readonly RecordRead<Contract>[]): void {
  for (const { contract, turnOf, readOf } of all)
    mount(router, contract, async ({ body, signal }) => ({
      ok: true,
      ...(await reads.run(turnOf(body), signal, readOf(body))),
    }));
}
