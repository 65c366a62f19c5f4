import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { createLogger, Readiness } from '@wts/service-kit/observe';
import { eventually } from '@wts/testkit';
import { Registry } from 'prom-client';
import { openTestStore } from '../../test/store.ts';
import { maintainTables } from './table-maintenance.ts';

describe('the maintenance of the tables', () => {
  it('does each task, also when one before it fails, and says that one failed', async () => {
    await using store = await openTestStore('maintenance');
    const warnings: unknown[] = [];
    const log = createLogger({ name: 'test', level: 'silent' });
    log.warn = (...said: unknown[]) => warnings.push(said);
    const done: string[] = [];
    const context = { name: 'test', log, metrics: new Registry(), readiness: new Readiness(log) };
    await using _work = maintainTables(context, {
      databaseUrl: store.url,
      tasks: [
        () => Promise.reject(new Error('the first')),
        async () => done.push('second'),
        () => Promise.reject(new Error('the third')),
      ],
    });
    await eventually(() => warnings.length > 0);
    assert.deepEqual(done, ['second']);
    assert.match(inspect(warnings, { depth: 5 }), /the first/);
  });
});
