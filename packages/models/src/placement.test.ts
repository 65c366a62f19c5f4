import assert from 'node:assert/strict';
import { Label, Project, Task, TaskChecklistItem } from './index.ts';
import { listFieldOf, readPlacement } from './placement.ts';

const id = '0b7c1f9e-6a43-4a5d-9a3e-2f1f7a1c9d10';

describe('a placement in a payload', () => {
  it('names the record before, the record after, or both, by ids in any case', () => {
    for (const [sortOrder, value] of [
      [{ after: id.toUpperCase() }, { after: id, before: null }],
      [
        { before: id, after: null },
        { after: null, before: id },
      ],
      [
        { before: id, after: id },
        { after: id, before: id },
      ],
    ])
      assert.deepEqual(readPlacement(Task, { sortOrder }), { ok: true, value });
  });

  it('is none where the rank is a text, a number or missing, and for a model without ranks', () => {
    for (const payload of [{}, { sortOrder: 'a0' }, { sortOrder: 1 }, { sortOrder: null }])
      assert.deepEqual(readPlacement(Task, payload), { ok: true, value: null });
    assert.deepEqual(readPlacement(Label, { sortOrder: { after: id } }), { ok: true, value: null });
  });

  it('has no other form', () => {
    for (const sortOrder of [{}, { after: null }, { after: 'x' }, { after: 1 }, { after: id, first: true }, [id]])
      assert.equal(readPlacement(Task, { sortOrder }).ok, false);
  });

  it('is in the list of the parent, or of the workspace', () =>
    assert.deepEqual([Task, TaskChecklistItem, Project].map(listFieldOf), ['projectId', 'taskId', null]));
});
