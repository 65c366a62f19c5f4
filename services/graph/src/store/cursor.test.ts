import { Fault } from '@wts/contracts';
import { Task } from '@wts/models';
import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { orderFieldsOf } from '../graphql/types/orders.ts';
import { cursorOf, cursorValuesOf } from './cursor.ts';
import { orderOf } from './order.ts';

const record = {
  id: randomUUID(),
  title: 'Ünï \u{1F6A7}',
  priority: 2,
  deadlineAt: null,
  startDate: '2026-11-21',
  createdAt: '2026-11-21T09:00:00.123Z',
};
const orderFields = orderFieldsOf(Task).map(([field]) => field);
const orderBy = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...orderFields), fc.constantFrom('ASC', 'DESC')), {
    maxLength: 4,
    selector: ([field]) => field,
  })
  .map((keys) => keys.map(([field, direction]) => ({ [field]: direction })));
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a cursor', () => {
  it('is read as the values of its record', () => {
    const keys = orderOf(Task, [{ title: 'ASC' }, { deadlineAt: 'DESC' }, { priority: 'ASC' }]);
    assert.deepEqual(cursorValuesOf(Task, keys, cursorOf(Task, keys, record)), [record.title, null, 2, record.id]);
  });

  it('of another order is refused', () =>
    fc.assert(
      fc.property(orderBy, orderBy, (one, other) => {
        const cursor = cursorOf(Task, orderOf(Task, one), { ...record, updatedAt: record.createdAt, sortOrder: '' });
        if (JSON.stringify(orderOf(Task, one)) === JSON.stringify(orderOf(Task, other))) return;
        assert.throws(() => cursorValuesOf(Task, orderOf(Task, other), cursor), Fault);
      }),
    ));

  it('that a client made is refused or has values, and never an error of the program [graphql.cursor.forged]', () => {
    const keys = orderOf(Task, [{ createdAt: 'DESC' }]);
    const [version, sign] = JSON.parse(Buffer.from(cursorOf(Task, keys, record), 'base64url').toString()) as unknown[];
    const made = fc.oneof(
      fc.string({ unit: ANY_CHARACTER }),
      fc.base64String(),
      fc.jsonValue().map(encode),
      fc.array(fc.jsonValue(), { maxLength: 3 }).map((values) => encode([version, sign, ...values])),
    );
    fc.assert(
      fc.property(made, (cursor) => {
        try {
          const [createdAt, id] = cursorValuesOf(Task, keys, cursor);
          assert.ok(typeof createdAt === 'string' && typeof id === 'string');
        } catch (error) {
          assert.ok(error instanceof Fault && error.code === 'validation_failed');
        }
      }),
      { numRuns: 100 },
    );
    const bad = [
      ['2026-02-30T00:00:00.000Z', record.id],
      ['2026-11-21T09:00:00.123Z', `${record.id}'`],
      [null, record.id],
      ['infinity', record.id],
      [1, record.id],
      [{}, record.id],
      ['2026-11-21T09:00:00.123Z', null],
    ];
    for (const values of bad)
      assert.throws(() => cursorValuesOf(Task, keys, encode([version, sign, ...values])), Fault);
    assert.deepEqual(cursorValuesOf(Task, keys, encode([version, sign, '2026-11-21T09:00:00.123456Z', record.id])), [
      '2026-11-21T09:00:00.123456Z',
      record.id,
    ]);
  });

  it('has text of which PostgreSQL can make a parameter', () => {
    const keys = orderOf(Task, [{ title: 'ASC' }]);
    const sign = (JSON.parse(Buffer.from(cursorOf(Task, keys, record), 'base64url').toString()) as unknown[])[1];
    for (const title of ['a\0', '\ud800'])
      assert.throws(() => cursorValuesOf(Task, keys, encode([1, sign, title, record.id])), Fault);
  });
});

describe('an order', () => {
  it('ends with the id, so that it is total', () => {
    fc.assert(
      fc.property(orderBy, (given) => {
        const keys = orderOf(Task, given);
        assert.equal(keys.at(-1)?.field, 'id');
        assert.equal(keys.at(-1)?.direction, keys.at(-2)?.direction);
      }),
    );
    assert.deepEqual(
      orderOf(Task, null).map(({ field, direction }) => `${field} ${direction}`),
      ['createdAt DESC', 'id DESC'],
    );
  });

  it('has at most four keys, each once', () => {
    const five = orderFields.slice(0, 5).map((field) => ({ [field]: 'ASC' }));
    assert.throws(() => orderOf(Task, five), Fault);
    assert.throws(() => orderOf(Task, [{ title: 'ASC' }, { title: 'DESC' }]), Fault);
  });

  it('is by no long text and by no id', () => {
    for (const field of ['title', 'priority', 'archivedAt']) assert.ok(orderFields.includes(field), field);
    for (const field of ['description', 'labelIds', 'projectId', 'id']) assert.ok(!orderFields.includes(field), field);
  });
});
