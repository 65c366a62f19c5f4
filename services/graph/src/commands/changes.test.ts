import { Task } from '@wts/models';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Changes } from './changes.ts';
import type { Change, Outcome } from './mutate.ts';
import { refused } from './outcome.ts';
import { sendCreates, sendUpdates } from './placed-batch.ts';

describe('the changes of a batch', () => {
  it('go to the same place in their order, however that place is written', () => {
    const changes = new Changes(Task, {}, { userId: randomUUID(), secret: 'secret', isBatch: true });
    const [anchor, one, two, three] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const places = [
      { after: anchor },
      { after: anchor, before: null },
      { after: anchor.toUpperCase(), before: undefined },
    ];
    const placed = [one, two, three].map((id, index) => changes.create({ id, place: places[index] }, index));
    assert.deepEqual(
      placed.map(({ payload }) => (payload['sortOrder'] as { after: string }).after),
      [anchor, one, two],
    );
  });

  /** The titles of a list as sync keeps it: it refuses what is `bad`, and a place after what is not there. */
  async function orderAfter(kind: 'create' | 'update', titles: readonly string[], list: string[]): Promise<boolean[]> {
    const changes = new Changes(Task, {}, { userId: randomUUID(), secret: 'secret', isBatch: true });
    const place = { after: 'anchor' };
    const sent = titles.map((title, index) =>
      kind === 'create' ? changes.create({ id: title, place }, index) : changes.update(title, { place }, index),
    );
    const decide = ({ id, payload }: Change): Outcome => {
      const { after } = payload['sortOrder'] as { after: string };
      if (id.startsWith('bad') || !list.includes(after)) return refused('NOT_FOUND', id);
      if (list.includes(id)) list.splice(list.indexOf(id), 1);
      list.splice(list.indexOf(after) + 1, 0, id);
      return { ok: true, syncId: '1', lastSyncId: '1', record: { id } };
    };
    const send = (all: readonly Change[]): Promise<Outcome[]> => Promise.resolve(all.map(decide));
    const outcomes = await (kind === 'create' ? sendCreates : sendUpdates)(sent, send);
    for (const [index, outcome] of outcomes.entries())
      if (!outcome.ok) assert.equal(outcome.error.message, titles[index]);
    return outcomes.map(({ ok }) => ok);
  }

  for (const kind of ['create', 'update'] as const)
    it(`go to their place also after one that is refused: ${kind} [graphql.writes.place]`, async () => {
      const list = ['anchor', 'last', ...(kind === 'update' ? ['one', 'bad', 'two', 'three'] : [])];
      const results = await orderAfter(kind, ['bad', 'one', 'bad 2', 'bad 3', 'two', 'three'], list);
      assert.deepEqual(results, [false, true, false, false, true, true]);
      assert.deepEqual(list.slice(0, 5), ['anchor', 'one', 'two', 'three', 'last']);
    });

  it('go before a record in their order', async () => {
    const changes = new Changes(Task, {}, { userId: randomUUID(), secret: 'secret', isBatch: true });
    const updates = ['one', 'two'].map((id, index) => changes.update(id, { place: { before: 'anchor' } }, index));
    let sent: readonly Change[] = [];
    await sendUpdates(updates, (all) => Promise.resolve((sent = all).map(({ id }) => refused('NOT_FOUND', id))));
    assert.deepEqual(
      sent.map(({ id }) => id),
      ['one', 'two'],
    );
  });
});
