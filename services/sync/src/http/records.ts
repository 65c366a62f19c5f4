import { mount } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { Reads } from '../fairness/reads.ts';
import { RECORD_READS } from '../queries/records.ts';

/** POST /internal/records/*: what the auth service reads of people, memberships and workspaces. */
export function mountRecords(router: Router, reads: Reads): void {
  for (const { contract, turnOf, readOf } of RECORD_READS)
    mount(router, contract, async ({ body, signal }) => ({
      ok: true,
      ...(await reads.run(turnOf(body), signal, readOf(body))),
    }));
}
