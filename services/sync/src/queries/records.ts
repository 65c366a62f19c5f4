import { Fault, type BodyOf, type ReplyOf, type syncApi } from '@wts/contracts';
import { findModel, unknownModel } from '@wts/models';
import type { Reads } from '../fairness/reads.ts';
import {
  findPeople,
  findPerson,
  membersOf,
  membershipChangesOf,
  membershipDetailsOf,
  recordsOfPerson,
  workspacesOf,
} from '../store/people.ts';
import { countRecords, findWorkspaces } from '../store/workspaces.ts';

type Api = typeof syncApi;
type Answer<Name extends keyof Api> = Omit<ReplyOf<Api[Name]>, 'ok'>;

/** The turns of an operator are those of one person. */
const OPERATOR = 'operator';

/**
 * People, memberships and workspaces as the auth service asks for them, which has no right to read their tables. It decides by them who may
 * do what, so they are read from the primary. Each read takes its turn among the pages, as one of the person or workspace that it is about.
 */
export class Records {
  readonly #reads: Reads;

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  person(
    { userId, workspaceId, only }: BodyOf<Api['internalReadPerson']>,
    signal: AbortSignal,
  ): Promise<Answer<'internalReadPerson'>> {
    return this.#reads.run(userId, signal, async (database) => ({
      person: only === 'workspaces' ? null : await findPerson(database, userId),
      workspaces: only === 'person' ? [] : await workspacesOf(database, userId, workspaceId),
    }));
  }

  memberships(
    { userId }: BodyOf<Api['internalListMemberships']>,
    signal: AbortSignal,
  ): Promise<Answer<'internalListMemberships'>> {
    return this.#reads.run(userId, signal, async (database) => ({
      memberships: await membershipDetailsOf(database, userId),
    }));
  }

  members(
    { workspaceId, ...page }: BodyOf<Api['internalListMembers']>,
    signal: AbortSignal,
  ): Promise<Answer<'internalListMembers'>> {
    return this.#reads.run(workspaceId, signal, async (database) => ({
      members: await membersOf(database, workspaceId, page),
    }));
  }

  membershipChanges(
    { workspaceId, ...page }: BodyOf<Api['internalListMembershipChanges']>,
    signal: AbortSignal,
  ): Promise<Answer<'internalListMembershipChanges'>> {
    return this.#reads.run(workspaceId, signal, async (database) => ({
      changes: await membershipChangesOf(database, workspaceId, page),
    }));
  }

  people(page: BodyOf<Api['internalFindPeople']>, signal: AbortSignal): Promise<Answer<'internalFindPeople'>> {
    return this.#reads.run(OPERATOR, signal, async (database) => ({ people: await findPeople(database, page) }));
  }

  workspaces(
    page: BodyOf<Api['internalFindWorkspaces']>,
    signal: AbortSignal,
  ): Promise<Answer<'internalFindWorkspaces'>> {
    return this.#reads.run(OPERATOR, signal, async (database) => ({
      workspaces: await findWorkspaces(database, page),
    }));
  }

  counts(signal: AbortSignal): Promise<Answer<'internalCountRecords'>> {
    return this.#reads.run(OPERATOR, signal, async (database) => ({ counts: await countRecords(database) }));
  }

  ofPerson(
    { userId, model: name, ...page }: BodyOf<Api['internalListRecordsOfPerson']>,
    signal: AbortSignal,
  ): Promise<Answer<'internalListRecordsOfPerson'>> {
    const model = findModel(name);
    if (model === undefined) throw new Fault('validation_failed', { message: `body/model: ${unknownModel(name)}` });
    return this.#reads.run(OPERATOR, signal, async (database) => ({
      records: await recordsOfPerson(database, userId, { model, ...page }),
    }));
  }
}
