import { Task } from '@wts/models';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Changes } from './changes.ts';

describe('the changes of a batch', () => {
  it('go to the same place in their order, however that place is written', () => {
    const changes = new Changes(Task, {}, { userId: randomUUID(), secret: 'secret', isBatch: true });
    const [anchor, one, two, three] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const places = [
      { after: anchor },
      { after: anchor, before: null },
      { after: anchor.toUpperCase(), before: undefined },
    ];
    const placed = [one, two, three].map((id, index) => changes.update(id, { place: places[index] }, index));
    assert.deepEqual(
      placed.map(({ payload }) => (payload['sortOrder'] as { after: string }).after),
      [anchor, one, two],
    );
  });
});
