import type { SecondFactorStore } from '../store/second-factors.ts';
import type { Sessions, SessionStore } from '../store/sessions.ts';
import type { Directory } from './directory.ts';

/** Sessions with their people. */
export function sessionsOfPeople(
  store: SessionStore,
  { directory, factors }: { readonly directory: Directory; readonly factors: Pick<SecondFactorStore, 'isRequired'> },
): Sessions {
  return {
    ...store,
    find: async (secretHash, network) => {
      const stored = await store.find(secretHash, network);
      if (stored === null) return null;
      const { hasNoFactor, ...session } = stored;
      const person = await directory.person(session.userId);
      if (person === null) return null;
      const lacksFactor = hasNoFactor && (await factors.isRequired(session.userId));
      return { ...session, name: person.name, email: person.email, lacksFactor };
    },
  };
}
