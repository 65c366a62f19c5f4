import { CliFault } from '../fault.ts';
import type { ExportedPerson } from './manifest.ts';

export interface TargetMember {
  readonly userId: string;
  readonly name: string;
  readonly email: string | null;
}

export interface MappedPerson {
  readonly person: ExportedPerson;
  /** Null: no person. */
  readonly to: TargetMember | null;
  /** The map of the caller, the same e-mail address, or neither: then the importing person stands in. */
  readonly by: 'map' | 'email' | 'importer';
}

/** Ids or addresses of people of the export, with the id or address of a member of the target, or null for no person. */
export type PeopleMap = Readonly<Record<string, string | null>>;

export interface PeopleToMap {
  readonly people: readonly ExportedPerson[];
  readonly members: readonly TargetMember[];
  readonly importerId: string;
  readonly map: PeopleMap;
}

/** Everyone of the export as a member of the target: by the map, else by the e-mail address, else the importing person. */
export function mapPeople({ people, members, importerId, map }: PeopleToMap): readonly MappedPerson[] {
  const byWord = new Map<string, TargetMember>();
  for (const { userId, name, email } of members)
    for (const word of [userId, email]) if (word !== null) byWord.set(word.toLowerCase(), { userId, name, email });
  const importer = byWord.get(importerId);
  if (!importer) throw new CliFault('refused', 'You are no member of the target.');
  const given = new Map(Object.entries(map).map(([word, to]) => [word.toLowerCase(), to]));
  checkMap(given, people, byWord);
  return people.map((person) => {
    const email = person.email?.toLowerCase() ?? '';
    const word = given.get(person.id) ?? given.get(email);
    if (given.has(person.id) || given.has(email))
      return { person, to: word === null || word === undefined ? null : memberOf(word, byWord), by: 'map' };
    const same = byWord.get(email);
    return same ? { person, to: same, by: 'email' } : { person, to: importer, by: 'importer' };
  });
}

function checkMap(
  given: ReadonlyMap<string, string | null>,
  people: readonly ExportedPerson[],
  byWord: ReadonlyMap<string, TargetMember>,
): void {
  const known = new Set(people.flatMap(({ id, email }) => [id, email?.toLowerCase() ?? id]));
  for (const [word, to] of given) {
    if (!known.has(word)) throw new CliFault('usage', `The map of people names ${word}, who is not in the export.`);
    if (to !== null) memberOf(to, byWord);
  }
}

function memberOf(word: string, byWord: ReadonlyMap<string, TargetMember>): TargetMember {
  const member = byWord.get(word.toLowerCase());
  if (!member)
    throw new CliFault('usage', `The map of people names ${word}, who is no member of the target.`, {
      hint: 'Invite the person first: wts workspace invite.',
    });
  return member;
}

/** Reads a map of people; throws one sentence about what is wrong with it. */
export function parsePeopleMap(text: string): PeopleMap {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new CliFault('usage', 'The map of people is not JSON.', { cause });
  }
  const isMap = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  if (!isMap || !Object.values(parsed as object).every((to) => to === null || typeof to === 'string'))
    throw new CliFault('usage', 'The map of people must be an object such as {"ana@example.com": "ana@example.org"}.', {
      hint: 'Names are ids or e-mail addresses; null means no person.',
    });
  return parsed as PeopleMap;
}
