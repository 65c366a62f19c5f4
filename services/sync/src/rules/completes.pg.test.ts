import assert from 'node:assert/strict';
import type { EntryChunk } from '@wts/contracts';
import { sharedWithOwner } from '../../test/shared-engines.ts';
import type { TestEngines, TestPerson } from '../../test/test-engines.ts';

describe('an entry of the log', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => ({ engines, owner, workspace } = await sharedWithOwner()));

  /** Of each entry since then, in the log and in the chunks that are handed over. */
  async function marksOf(work: () => Promise<void>): Promise<boolean[]> {
    const handed: EntryChunk[] = [];
    for (const engine of engines.all) engine.onCommitted((chunk) => void handed.push(chunk));
    const head = await engines.head();
    await work();
    const { entries } = await engines.log.read(head, 100);
    const marks = entries.map(({ completes }) => completes);
    assert.deepEqual(
      handed.flatMap(({ actions }) => actions.map(({ completes }) => completes)),
      marks,
    );
    return marks;
  }

  it('says that a task was completed by it when its completedAt was null before', async () => {
    const marks = await marksOf(async () => {
      const id = await owner.make('Task', { workspaceId: workspace, title: 'T' });
      await owner.change('Task', id, { title: 'U' });
      await owner.change('Task', id, { completedAt: '2026-11-20T10:00:00.000Z' });
      await owner.change('Task', id, { completedAt: '2026-11-21T10:00:00.000Z' });
      await owner.change('Task', id, { completedAt: null, title: 'V' });
      await owner.change('Task', id, { completedAt: '2026-11-21T10:00:00.000Z', title: 'W' });
    });
    assert.deepEqual(marks, [false, false, true, false, false, true]);
  });

  it('says that a project was completed by it when its status was not done before', async () => {
    const marks = await marksOf(async () => {
      const id = await owner.make('Project', { workspaceId: workspace, name: 'P', key: 'P' });
      await owner.change('Project', id, { status: 'on_hold' });
      await owner.change('Project', id, { status: 'done' });
      await owner.change('Project', id, { completedAt: '2026-11-20T10:00:00.000Z' });
      await owner.change('Project', id, { status: 'active' });
      await owner.change('Project', id, { completedAt: '2026-11-20T10:00:00.000Z' });
    });
    assert.deepEqual(marks, [false, false, true, false, false, true]);
  });

  it('says so of no other model, and not of a record that is new', async () => {
    const marks = await marksOf(async () => {
      const completedAt = '2026-11-20T10:00:00.000Z';
      const taskId = await owner.make('Task', { workspaceId: workspace, title: 'T', completedAt });
      const id = await owner.make('TaskChecklistItem', { workspaceId: workspace, taskId, title: 'T' });
      await owner.change('TaskChecklistItem', id, { completedAt });
    });
    assert.deepEqual(marks, [false, false, false]);
  });
});
