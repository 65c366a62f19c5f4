import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '@wts/testkit';
import { TestEngines, applied, change, openEngine, type TestPerson } from '../../test/test-engines.ts';
import type { Unit } from '../decision/unit.ts';

const UNITS = 20;

describe('the weight of a change that costs more than its size [never.one-takes-all]', () => {
  let engines: TestEngines;
  let busy: TestPerson;
  let other: TestPerson;
  let home: string;
  let elsewhere: string;
  const large = 'd'.repeat(49_000);
  const ids = Array.from({ length: UNITS }, () => randomUUID());

  before(async () => {
    engines = await TestEngines.open('price');
    [busy, other] = [await engines.person('Busy'), await engines.person('Other')];
    [home, elsewhere] = [await engines.workspace(busy), await engines.workspace(other)];
    const made = ids.map((id) =>
      busy.unit(change('INSERT', 'Task', id, { workspaceId: home, title: 'T', description: large })),
    );
    for (const outcome of await engines.any.commit(made)) applied(outcome);
  });
  after(() => engines[Symbol.asyncDispose]());

  const honest = (): Unit =>
    other.unit(change('INSERT', 'Task', randomUUID(), { workspaceId: elsewhere, title: 'Small' }));
  const again = (id: string): Unit => ({ ...busy.unit(change('UPDATE', 'Task', id, { title: 'T' })), clientTxId: id });
  const cases: Record<string, (id: string) => Unit> = {
    'an update that changes nothing': (id) => busy.unit(change('UPDATE', 'Task', id, { title: 'T' })),
    'a change that was sent before': again,
    'a new record that was made before': (id) =>
      busy.unit(change('INSERT', 'Task', id, { workspaceId: home, title: 'T' })),
    'a change that is refused': (id) => busy.unit(change('UPDATE', 'Task', id, { title: 7 })),
    'a change that is refused at sight': (id) => busy.unit(change('UPDATE', 'Task', id, { id: 'another' })),
    'a record that refers to a large one': (taskId) =>
      busy.unit(change('INSERT', 'Comment', randomUUID(), { workspaceId: home, taskId, body: 'C' })),
    'a title that is searched by hundreds of its parts': () =>
      busy.unit(change('INSERT', 'Task', randomUUID(), { workspaceId: home, title: 'T'.repeat(500) })),
  };
  for (const [name, unitOf] of Object.entries(cases)) {
    it(`${name} counts what it costs, and is not in one batch with the changes of others`, async () => {
      for (const outcome of await engines.any.commit(ids.map(again))) applied(outcome);
      const sizes: number[] = [];
      const engine = openEngine({ pool: engines.pool, watch: { onBatch: ({ mutations }) => sizes.push(mutations) } });
      for (let round = 0; round < 4; round += 1) await engine.commit(ids.map((id) => unitOf(id)));
      sizes.length = 0;
      const [first] = await Promise.all([
        engine.commit([honest()]),
        engine.commit([unitOf(ids[0]!)]),
        engine.commit([honest()]),
      ]);
      applied(first[0]!);
      assert.deepEqual(sizes, [1, 1, 1]);
    });
  }

  it('lets a small change in the same batch be answered before the records for the refusal of another are read', async () => {
    const engine = openEngine({ pool: engines.pool });
    await engine.archivedWorkspaces.refresh();
    const query = engines.pool.query.bind(engines.pool) as (...args: unknown[]) => Promise<unknown>;
    let isAnswered = false;
    engines.pool.query = (async (...args: unknown[]) => {
      await eventually(() => isAnswered);
      return query(...args);
    }) as typeof engines.pool.query;
    try {
      const first = engine.commit([honest()]);
      const refusal = engine.commit([busy.unit(change('UPDATE', 'Task', randomUUID(), { title: 'T' }))]);
      const small = engine.commit([honest()]);
      applied((await first)[0]!);
      applied((await small)[0]!);
      isAnswered = true;
      assert.equal((await refusal)[0]?.ok, false);
    } finally {
      engines.pool.query = query as typeof engines.pool.query;
    }
  });
});
