import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '@wts/testkit';
import { Stage, applied, change, openEngine } from '../../test/stage.ts';
import type { Someone } from '../../test/stage.ts';
import type { Unit } from './unit.ts';

const UNITS = 20;

describe('what a change costs that reads much and writes little [never.one-takes-all]', function () {
  this.timeout(30_000);
  let stage: Stage;
  let busy: Someone;
  let other: Someone;
  let home: string;
  let elsewhere: string;
  const large = 'd'.repeat(49_000);
  const ids = Array.from({ length: UNITS }, () => randomUUID());

  before(async () => {
    stage = await Stage.open('price');
    [busy, other] = [await stage.person('Busy'), await stage.person('Other')];
    [home, elsewhere] = [await stage.workspace(busy), await stage.workspace(other)];
    const made = ids.map((id) =>
      busy.unit(change('INSERT', 'Task', id, { workspaceId: home, title: 'T', description: large })),
    );
    for (const outcome of await stage.engine.commit(made)) applied(outcome);
  });
  after(() => stage[Symbol.asyncDispose]());

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
  };
  for (const [name, unitOf] of Object.entries(cases)) {
    it(`${name} weighs what is read for it, and does not go with the changes of others`, async () => {
      for (const outcome of await stage.engine.commit(ids.map(again))) applied(outcome);
      const sizes: number[] = [];
      const engine = openEngine({
        pool: stage.pool,
        watch: { onBatch: ({ mutations }) => sizes.push(mutations) },
      });
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

  it('a small change in the same batch is answered before what is read for the refusal of another', async () => {
    const engine = openEngine({ pool: stage.pool });
    const query = stage.pool.query.bind(stage.pool) as (...args: unknown[]) => Promise<unknown>;
    let isAnswered = false;
    stage.pool.query = (async (...args: unknown[]) => {
      await eventually(() => isAnswered);
      return query(...args);
    }) as typeof stage.pool.query;
    try {
      const first = engine.commit([honest()]);
      const refusal = engine.commit([busy.unit(change('UPDATE', 'Task', randomUUID(), { title: 'T' }))]);
      const small = engine.commit([honest()]);
      applied((await first)[0]!);
      applied((await small)[0]!);
      isAnswered = true;
      assert.equal((await refusal)[0]?.ok, false);
    } finally {
      stage.pool.query = query as typeof stage.pool.query;
    }
  });
});
