import { Fault, syncApi, type OperatorPerson, type OperatorPersonDetail, type PersonRecord } from '@wts/contracts';
import type { PersonStates } from '../store/person-states.ts';
import type { Directory } from './directory.ts';
import { awayCells, type Gathered } from './gather.ts';
import type { Page } from '../store/operator-page.ts';

export type OperatorPeople = ReturnType<typeof operatorPeople>;

/** What operators see of people: their records, from sync, with everything here by which they sign in. Keeps operator.people.find. */
export function operatorPeople(directory: Directory, states: PersonStates) {
  const withState = async <P extends PersonRecord>(people: readonly P[]) => {
    const found = await states.of(people.map(({ userId }) => userId));
    return people.map((person) => ({ ...person, ...(found.get(person.userId) ?? NOTHING_KNOWN) }));
  };
  return {
    /** By name. The text is a part of the name, of an address that the person has now or signs in with, or is the id. */
    list: async ({ text, after, limit }: Page): Promise<Gathered<OperatorPerson>> => {
      const most = syncApi.FOUND_PEOPLE_MAX;
      const orIds = text === null ? [] : await states.withAddress(text, most + 1);
      // Sync orders them by name, so with some of them left out the pages would lack people anywhere.
      if (orIds.length > most) {
        const message = `query/text is in the addresses of more than ${most} people. Give a longer one.`;
        throw new Fault('validation_failed', { message });
      }
      const page = { text, orIds, limit, ...(after === null ? {} : { after }) };
      const { found, away } = await directory.findPeople(page);
      return { found: await withState(found), away };
    },
    /** Null for an unknown person. */
    find: async (userId: string): Promise<OperatorPersonDetail | null> => {
      const person = await directory.person(userId);
      if (person === null) return null;
      const [[stated], { found: memberships, away }, signsIn] = await Promise.all([
        withState([person]),
        directory.membershipDetails(userId),
        states.detail(userId),
      ]);
      if (stated === undefined) throw new Error('One person has one state');
      return {
        ...stated,
        workspaces: memberships.length,
        memberships: memberships.map(({ id: _id, isOnlyOwner: _isOnlyOwner, ...membership }) => membership),
        ...signsIn,
        ...awayCells(away),
      };
    },
  };
}

const NOTHING_KNOWN = { disabledAt: null, erasedAt: null, lastSeenAt: null };
