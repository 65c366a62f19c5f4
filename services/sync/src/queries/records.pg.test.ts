import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { syncApi } from '@wts/contracts';
import type { Queryable } from '@wts/log';
import { TestEngines } from '../../test/test-engines.ts';
import { readPerson, RECORD_READS } from './records.ts';

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
      const { person, workspaces } = await readPerson({
        userId: owner.id,
        ...(only === undefined ? {} : { only }),
      })(database);
      return [person?.name ?? null, workspaces.length, statements];
    };
    assert.deepEqual(await ask(), ['Owner', 1, 2]);
    assert.deepEqual(await ask('person'), ['Owner', 0, 1]);
    assert.deepEqual(await ask('workspaces'), [null, 1, 1]);
  });

  it('is refused before its turn when it names no model', () => {
    const read = RECORD_READS.find(({ contract }) => contract === syncApi.internalListRecordsOfPerson);
    assert.throws(() => read?.readOf({ userId: randomUUID(), model: 'Nothing', limit: 1 }), {
      code: 'validation_failed',
    });
  });
});
