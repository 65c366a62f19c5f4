import assert from 'node:assert/strict';
import { Task } from '../models/task.ts';
import { todayIn } from './days.ts';
import { between, stateOf, TASK_LISTS, TASK_STATES, tasksOfList, type TaskList } from './lists.ts';

const today = todayIn('UTC', new Date('2026-11-23T12:00:00Z'));
const LISTS = Object.keys(TASK_LISTS) as TaskList[];

/** The names of the fields in a condition. */
function fieldsOf(condition: object): string[] {
  return Object.entries(condition).flatMap(([name, value]) =>
    name === 'or' ? (value as object[]).flatMap(fieldsOf) : [name],
  );
}

describe('lists of tasks', () => {
  it('have conditions on fields of tasks, whatever the state', () => {
    const fields = new Set([...Object.keys(Task.fields), 'archivedAt']);
    for (const list of [undefined, ...LISTS])
      for (const state of [undefined, ...TASK_STATES])
        for (const name of tasksOfList({ list, state }, today).conditions.flatMap(fieldsOf))
          assert.ok(fields.has(name), name);
  });

  it('are of open tasks, and the logbook of done ones, unless a state is given', () => {
    const open = { completedAt: { null: true } };
    for (const list of LISTS) {
      const isLogbook = list === 'logbook';
      assert.deepEqual(tasksOfList({ list }, today).conditions[0], isLogbook ? { completedAt: { null: false } } : open);
    }
    assert.deepEqual(tasksOfList({}, today), { conditions: [open], includeArchived: false });
    assert.deepEqual(tasksOfList({ state: 'any' }, today), { conditions: [], includeArchived: true });
    assert.equal(tasksOfList({ list: 'today', state: 'archived' }, today).includeArchived, true);
  });

  it('divide at today: what starts or is due until then, and what starts later', () => {
    const [, until] = tasksOfList({ list: 'today' }, today).conditions;
    assert.deepEqual(until, { or: [{ startDate: { lte: today.day } }, { deadlineAt: { lte: today.day } }] });
    assert.deepEqual(tasksOfList({ list: 'upcoming' }, today).conditions[1], { startDate: { gt: today.day } });
  });
});

describe('a condition between days', () => {
  it('includes both, and leaves out what is not given', () => {
    assert.deepEqual(between('deadlineAt', { from: 'today', to: 'tomorrow' }, today), [
      { deadlineAt: { gte: '2026-11-23', lte: '2026-11-24' } },
    ]);
    assert.deepEqual(between('startDate', { to: 'today' }, today), [{ startDate: { lte: '2026-11-23' } }]);
    assert.deepEqual(between('startDate', {}, today), []);
  });
});

describe('the state of a task', () => {
  it('is archived before done, and done before open', () => {
    const at = '2026-11-23T12:00:00.000Z';
    assert.equal(stateOf({ completedAt: at, archivedAt: at }), 'archived');
    assert.equal(stateOf({ completedAt: at, archivedAt: null }), 'done');
    assert.equal(stateOf({ completedAt: null, archivedAt: null }), 'open');
  });
});
