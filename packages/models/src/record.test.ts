import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Model, RecordOf } from './model.ts';
import { buildRecord, differences, readInsert, readUpdate } from './record.ts';
import { Label } from './models/label.ts';
import { Task } from './models/task.ts';
import { MODELS, modelNamed } from './registry.ts';
import { columnsOf } from './sql.ts';

const times = { createdAt: '2026-11-21T00:00:00.000Z', updatedAt: '2026-11-21T00:00:00.000Z', archivedAt: null };
const [workspaceId, userId, projectId] = [randomUUID(), randomUUID(), randomUUID()];
const dayMs = Date.UTC(2026, 10, 21);

type Values = Record<string, unknown>;
const inserted = (model: string, payload: Values): Values => {
  const reading = readInsert(modelNamed(model), payload);
  assert.ok(reading.ok, reading.ok ? '' : reading.reason);
  return reading.value;
};
const reasonOf = (reading: { ok: boolean; reason?: string }): string | undefined => reading.reason;

describe('the payload of a new record', () => {
  it('gets its declared defaults, and needs every field without one', () => {
    assert.deepEqual(inserted('Task', { workspaceId, title: 'T' }), {
      workspaceId,
      title: 'T',
      description: null,
      projectId: null,
      teamId: null,
      assigneeId: null,
      start: 'not_started',
      startBucket: 'today',
      startDate: null,
      todayIndexReferenceDate: null,
      deadlineAt: null,
      priority: 0,
      labelIds: [],
      sortOrder: '',
      repeatRule: null,
      repeatFrom: 'date',
      repeatWaiting: false,
      completedAt: null,
    });
    assert.equal(reasonOf(readInsert(Task, { workspaceId })), 'title is required');
    assert.equal(reasonOf(readInsert(Task, {})), 'workspaceId is required; title is required');
    assert.equal(reasonOf(readInsert(Task, { workspaceId, title: null })), 'title must not be null');
  });

  it('treats null as missing for a field with a default', () =>
    assert.equal(
      inserted('Task', { workspaceId, title: 'T', priority: null, startBucket: null, labelIds: null })['priority'],
      0,
    ));

  it('of existing clients is accepted as they send it', () => {
    const kept = { createdAt: 1_795_222_326_625, updatedAt: 1_795_222_326_625, archivedAt: null };
    const task = inserted('Task', {
      id: randomUUID(),
      title: 'T',
      workspaceId,
      creatorId: userId,
      start: 'started',
      startBucket: 'today',
      startDate: dayMs,
      todayIndexReferenceDate: dayMs,
      description: 'D',
      deadlineAt: dayMs,
      projectId,
      teamId: null,
      assigneeId: userId,
      number: null,
      completedAt: null,
      repeatRule: null,
      ...kept,
    });
    assert.deepEqual([task['startDate'], task['deadlineAt'], 'creatorId' in task], ['2026-11-21', '2026-11-21', false]);
    inserted('Project', {
      id: randomUUID(),
      key: 'WEB',
      name: 'Web',
      workspaceId,
      creatorId: userId,
      description: 'D',
      targetDate: dayMs,
      ...kept,
    });
    const item = inserted('TaskChecklistItem', {
      id: randomUUID(),
      taskId: randomUUID(),
      title: 'Step',
      sortOrder: 3,
      workspaceId,
      completedAt: null,
    });
    assert.equal(item['sortOrder'], '3');
    inserted('Comment', {
      id: randomUUID(),
      taskId: randomUUID(),
      workspaceId,
      authorId: userId,
      body: 'Hi',
      parentId: null,
      editedAt: null,
      ...kept,
    });
    inserted('Label', { id: randomUUID(), workspaceId, name: 'Bug', color: '#ff0000', ...kept });
  });

  it('of a label has a color as #rgb or #rrggbb [sync.mutate.color]', () => {
    const colored = (color: string): string | undefined =>
      reasonOf(readInsert(Label, { workspaceId, name: 'Bug', color }));
    for (const color of ['#abc', '#ABCDEF', '#012345']) assert.equal(colored(color), undefined, color);
    for (const color of ['#ab', '#abcd', '#12345', '#1234567', '#12345678', 'red', 'abcdef', '#ggg', '#abc\n', ''])
      assert.equal(colored(color), 'color must be #rgb or #rrggbb', color);
  });

  it('with a key or a name of other characters or another length is refused with what it may have [sync.mutate.pattern-words]', () => {
    const refusals = (model: string, record: object, field: string): (string | undefined)[] =>
      ['a b', '', 'Б', '🙂', 'x'.repeat(100)].map((value) =>
        reasonOf(readInsert(modelNamed(model), { workspaceId, name: 'N', ...record, [field]: value })),
      );
    const all = (words: string): string[] => Array<string>(5).fill(words);
    assert.deepEqual(
      refusals('Project', {}, 'key'),
      all('key must be 1 to 32 characters A-Z, a-z, 0-9, - and _, the first a letter or a digit'),
    );
    assert.deepEqual(
      refusals('Team', {}, 'key'),
      all('key must be 1 to 16 characters A-Z, a-z, 0-9, - and _, the first a letter'),
    );
    assert.deepEqual(
      ['a b', '', 'x'.repeat(65)].map((username) => reasonOf(readUpdate(modelNamed('User'), { username }))),
      Array<string>(3).fill('username must be 1 to 64 characters A-Z, a-z, 0-9, ., _ and -'),
    );
  });

  it('with an unknown field is refused, because dropping it would lose data', () => {
    for (const name of ['headingId', 'constructor', 'hasOwnProperty', 'toString'])
      assert.equal(
        reasonOf(readInsert(Label, { workspaceId, name: 'T', color: '#abc', [name]: null })),
        `Label has no field "${name}"; it has color, name, teamId, workspaceId`,
      );
    for (const name of ['__proto__', '<script>', 'a b', '', 'x'.repeat(65), 'naïve']) {
      const payload = JSON.parse(
        `{"workspaceId":"${workspaceId}","title":"T",${JSON.stringify(name)}:{"title":"P"}}`,
      ) as Values;
      for (const reading of [readInsert(Task, payload), readUpdate(Task, payload)])
        assert.match(String(reasonOf(reading)), /^Task has no such field; it has assigneeId, completedAt, /);
    }
  });

  it('with an unknown field is refused without its name when the name makes published clients repeat the request', () => {
    const reason = reasonOf(readInsert(Label, { workspaceId, name: 'T', color: '#abc', fetchedAt: 1 }));
    assert.equal(reason, 'Label has no such field; it has color, name, teamId, workspaceId');
  });

  it('with several faults is refused with up to five of them, the unknown names last', () => {
    assert.equal(
      reasonOf(readInsert(Label, { teamId: 1, colour: 'red', x: 1 })),
      'teamId must be the id of a Team; workspaceId is required; name is required; ' +
        'Label has no field "colour" or "x"; it has color, name, teamId, workspaceId',
    );
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]));
    assert.match(
      String(reasonOf(readInsert(Label, many))),
      /^Label has no field "x0" or "x1" or "x2" or "x3" or "x4"; it has color/,
    );
  });
});

describe('the payload of a change', () => {
  it('has only the given fields, normalized', () => {
    assert.deepEqual(readUpdate(Task, { title: 'T', deadlineAt: dayMs, labelIds: [] }), {
      ok: true,
      value: { title: 'T', deadlineAt: '2026-11-21', labelIds: [] },
    });
    assert.deepEqual(readUpdate(Task, {}), { ok: true, value: {} });
  });

  it('is not checked against the current rules where it equals the stored value [sync.mutate.unchanged-values]', () => {
    const stored = { name: 'Bug', color: '#12345' };
    assert.deepEqual(readUpdate(Label, { name: 'Fault', color: '#12345' }, stored), {
      ok: true,
      value: { name: 'Fault', color: '#12345' },
    });
    assert.equal(reasonOf(readUpdate(Label, { color: '#1234' }, stored)), 'color must be #rgb or #rrggbb');
    const repeating = { repeatRule: 'nonsense' };
    assert.ok(readUpdate(Task, repeating, repeating).ok);
    assert.match(String(reasonOf(readUpdate(Task, repeating))), /^repeatRule must be an RFC 5545 rule/);
  });

  it('may set only nullable fields to null', () => {
    assert.deepEqual(readUpdate(Task, { description: null }), { ok: true, value: { description: null } });
    assert.equal(reasonOf(readUpdate(Task, { title: null })), 'title must not be null');
    assert.equal(reasonOf(readUpdate(Task, { priority: null })), 'priority must not be null');
  });

  describe('of single members of a set', () => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    const labels = (payload: Values, stored: readonly string[] = [a, b]): unknown => {
      const reading = readUpdate(Task, payload, { labelIds: stored });
      return reading.ok ? reading.value['labelIds'] : reading.reason;
    };

    it('adds to the stored set and removes from it, without repeats [sync.mutate.set-changes]', () => {
      assert.deepEqual(labels({ addedLabelIds: [c, a.toUpperCase()] }), [a, b, c]);
      assert.deepEqual(labels({ removedLabelIds: [a, c] }), [b]);
      assert.deepEqual(labels({ addedLabelIds: [c], removedLabelIds: [a] }), [b, c]);
      assert.deepEqual(labels({ addedLabelIds: [a], removedLabelIds: [a] }), [b, a]);
      assert.deepEqual(labels({ labelIds: [c], addedLabelIds: [a] }), [c, a]);
      assert.deepEqual(readUpdate(Task, { title: 'T', addedLabelIds: null }, { labelIds: [a] }), {
        ok: true,
        value: { title: 'T' },
      });
    });

    it('is refused where it is no list of ids, or the set would be too large [sync.mutate.set-changes]', () => {
      assert.equal(labels({ addedLabelIds: 'x' }), 'addedLabelIds must be a list of ids of Label records');
      assert.equal(labels({ removedLabelIds: [1] }), 'removedLabelIds must be a list of ids of Label records');
      const many = Array.from({ length: 50 }, () => randomUUID());
      assert.equal(labels({ addedLabelIds: [a] }, many), 'labelIds must have at most 50 items');
      assert.deepEqual(labels({ addedLabelIds: [a], removedLabelIds: many.slice(0, 49) }, many), [many[49], a]);
    });

    it('is of changes only, and of fields with several references only [sync.mutate.set-changes]', () => {
      assert.match(
        String(reasonOf(readInsert(Task, { workspaceId, title: 'T', addedLabelIds: [a] }))),
        /^Task has no field "addedLabelIds"/,
      );
      assert.match(String(reasonOf(readUpdate(Task, { addedTitle: 'T' }))), /^Task has no field "addedTitle"/);
    });
  });

  it('ignores fields that the server assigns', () => {
    const payload = { id: 'anything', createdAt: 'never', updatedAt: {}, archivedAt: [], number: 'x', creatorId: 5 };
    assert.deepEqual(readUpdate(Task, payload), { ok: true, value: {} });
  });
});

describe('a record', () => {
  const values = fc.record(
    {
      title: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).filter((text) => text.trim() !== ''),
      priority: fc.integer({ min: 0, max: 4 }),
      labelIds: fc.array(fc.uuid(), { maxLength: 3 }),
      startDate: fc.constantFrom(null, '2026-11-21', dayMs),
      completedAt: fc.option(fc.integer({ min: Date.UTC(2000, 0, 1), max: dayMs })),
      projectId: fc.option(fc.uuid()),
    },
    { requiredKeys: [] },
  );

  it('differs from a payload in exactly the changed fields', () =>
    fc.assert(
      fc.property(values, values, (first, second) => {
        const before: RecordOf<Model> = buildRecord(
          Task,
          randomUUID(),
          inserted('Task', { workspaceId, title: 'T', ...first }),
          times,
        );
        const patch = readUpdate(Task, second);
        assert.ok(patch.ok);
        const changed = differences(Task, before, patch.value);
        const after: RecordOf<Model> = buildRecord(Task, before.id, { ...before, ...patch.value }, times);
        const differing = Object.keys(after).filter(
          (name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]),
        );
        assert.deepEqual(changed, differing);
        // The patch that travels turns the one into the other.
        const data = Object.fromEntries(changed.map((name) => [name, after[name]]));
        assert.deepEqual({ ...before, ...data }, after);
        assert.deepEqual(differences(Task, after, patch.value), []);
      }),
    ));

  it('has its fields in one order for every order of the payload', () => {
    for (const model of MODELS) {
      const fields = columnsOf(model).map(({ field }) => field);
      const given = Object.fromEntries(
        Object.keys(model.fields)
          .toReversed()
          .map((name) => [name, null]),
      );
      assert.deepEqual(Object.keys(buildRecord(model, randomUUID(), given, times)), fields);
      assert.deepEqual(Object.keys(buildRecord(model, randomUUID(), {}, times)), fields);
    }
  });

  it('is unchanged by a payload that is the whole record', () =>
    fc.assert(
      fc.property(values, (first) => {
        const record = buildRecord(Task, randomUUID(), inserted('Task', { workspaceId, title: 'T', ...first }), times);
        const reading = readUpdate(Task, JSON.parse(JSON.stringify(record)) as Values);
        assert.ok(reading.ok);
        assert.deepEqual(differences(Task, record, reading.value), []);
      }),
    ));
});

describe('any payload of any model', () => {
  it('is read without throwing, and a refusal contains no value', () => {
    const names = [...new Set(MODELS.flatMap(({ fields }) => Object.keys(fields)))];
    const payload = fc.dictionary(
      fc.oneof(fc.constantFrom(...names), fc.string()),
      fc.oneof(fc.jsonValue(), fc.constant('zebra7f3a'), fc.uuid()),
      { maxKeys: 8 },
    );
    fc.assert(
      fc.property(fc.constantFrom(...MODELS), payload, (model, given) => {
        for (const reading of [readInsert(model, given), readUpdate(model, given)]) {
          if (reading.ok) assert.ok(Object.keys(reading.value).every((name) => name in model.fields));
          else
            assert.ok(!reading.reason.includes('zebra7f3a') && /^[\x20-\x7e]+$/.test(reading.reason), reading.reason);
        }
      }),
      { numRuns: 500 },
    );
  });
});
