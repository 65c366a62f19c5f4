import assert from 'node:assert/strict';
import { mapPeople, parsePeopleMap } from './map-people.ts';

const person = (id: string, email: string | null) => ({ id, name: id, email, role: 'member' });
const member = (userId: string, email: string | null) => ({ userId, name: userId, email });
const PEOPLE = [person('ana', 'Ana@example.com'), person('bo', 'bo@example.com'), person('cy', null)];
const MEMBERS = [member('me', 'me@example.org'), member('ana-2', 'ana@EXAMPLE.com'), member('bo-2', 'bo@example.org')];
const to = (map: Readonly<Record<string, string | null>>) =>
  mapPeople({ people: PEOPLE, members: MEMBERS, importerId: 'me', map }).map((one) => [one.to?.userId ?? null, one.by]);

describe('the people of an export', () => {
  it('are those with the same address, else the importing person', () =>
    assert.deepEqual(to({}), [
      ['ana-2', 'email'],
      ['me', 'importer'],
      ['me', 'importer'],
    ]));

  it('are those of a map by ids and addresses before that, or no person', () =>
    assert.deepEqual(to({ 'BO@example.com': 'bo@example.org', cy: null, ana: 'me' }), [
      ['me', 'map'],
      ['bo-2', 'map'],
      [null, 'map'],
    ]));

  it('are refused when a map names who is not there', () => {
    assert.throws(() => to({ dee: 'me' }), /dee, who is not in the export/);
    assert.throws(() => to({ bo: 'bo@example.com' }), /bo@example\.com, who is no member of the target/);
    for (const text of ['{', '[]', 'null', '{"a":1}'])
      assert.throws(() => parsePeopleMap(text), /^CliFault: The map of people/);
  });
});
