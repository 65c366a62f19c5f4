import { syncApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { Records } from '../queries/records.ts';

/** POST /internal/records/*: what the auth service reads of people, memberships and workspaces. */
export function mountRecords(router: Router, records: Records): void {
  mount(router, syncApi.internalReadPerson, async ({ body, signal }) => ({
    ok: true,
    ...(await records.person(body, signal)),
  }));
  mount(router, syncApi.internalListMemberships, async ({ body, signal }) => ({
    ok: true,
    ...(await records.memberships(body, signal)),
  }));
  mount(router, syncApi.internalListMembers, async ({ body, signal }) => ({
    ok: true,
    ...(await records.members(body, signal)),
  }));
  mount(router, syncApi.internalListMembershipChanges, async ({ body, signal }) => ({
    ok: true,
    ...(await records.membershipChanges(body, signal)),
  }));
  mount(router, syncApi.internalFindPeople, async ({ body, signal }) => ({
    ok: true,
    ...(await records.people(body, signal)),
  }));
  mount(router, syncApi.internalFindWorkspaces, async ({ body, signal }) => ({
    ok: true,
    ...(await records.workspaces(body, signal)),
  }));
  mount(router, syncApi.internalCountRecords, async ({ signal }) => ({ ok: true, ...(await records.counts(signal)) }));
  mount(router, syncApi.internalListRecordsOfPerson, async ({ body, signal }) => ({
    ok: true,
    ...(await records.ofPerson(body, signal)),
  }));
}
