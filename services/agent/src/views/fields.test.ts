import assert from 'node:assert/strict';
import { date, Task, type Model } from '@wts/models';
import { plainInputOf } from '../tools/task-input.ts';
import { viewOfTask } from './task.ts';

describe('the view of a task', () => {
  const { properties, selection } = viewOfTask(Task);

  it('shows a field that is added to the model, and lets it be set, without another line', () => {
    const declared: Model = {
      ...Task,
      fields: { ...Task.fields, reviewOn: date({ doc: 'When to look at it again.', nullable: true }) },
    };
    const view = viewOfTask(declared);
    assert.deepEqual(view.properties['reviewOn'], { type: ['string', 'null'] });
    assert.deepEqual(
      view.selection.filter((field) => !selection.includes(field)),
      ['reviewOn'],
    );
    const [input, before] = [plainInputOf(declared), plainInputOf(Task)];
    assert.deepEqual(
      Object.keys(input).filter((field) => !(field in before)),
      ['reviewOn'],
    );
  });

  it('shows the names of the records that a task refers to, and the workspace by its id', () => {
    assert.ok(selection.includes('project { id key name }') && selection.includes('assignee { id name }'));
    assert.ok(selection.includes('labels(first: 50, includeArchived: true) { nodes { id name } }'));
    assert.deepEqual(properties['workspaceId'], { type: 'string' });
    assert.ok(!selection.some((field) => field.startsWith('projectId') || field.startsWith('sortOrder')));
  });
});
