import assert from 'node:assert/strict';
import type { Queryable } from '@wts/log';
import { TestEngines } from '../../test/test-engines.ts';
import { readPerson } from './records.ts';

describe('what the auth service asks for of a person', () => {
  it('costs a statement for each part, and none for the part that is not asked for', async () => {
    await using engines = await TestEngines.open('records', 1);
    const owner = await engines.person('Owner');
    await engines.workspace(owner);
    let statements = 0;
    const database = {
      query: async (...query: Parameters<Queryable['query']>) => {
        statements += 1;
        return engines.pool.query(...query);
      },
    } as Queryable;
    const ask = async (only?: 'person' | 'workspaces') => {
      statements = 0;
      const { person, workspaces } = await readPerson(database, {
        userId: owner.id,
        ...(only === undefined ? {} : { only }),
      });
      return [person?.name ?? null, workspaces.length, statements];
    };
    assert.deepEqual(await ask(), ['Owner', 1, 2]);
    assert.deepEqual(await ask('person'), ['Owner', 0, 1]);
    assert.deepEqual(await ask('workspaces'), [null, 1, 1]);
  });
});
