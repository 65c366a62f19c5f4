import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FormatsPlugin } from 'ajv-formats';
import formats from 'ajv-formats';
import type { Model } from './model.ts';
import { buildRecord } from './record.ts';
import { Comment } from './models/comment.ts';
import { User } from './models/user.ts';
import { MODEL_NAMES, MODELS, dependentsOf, findModel, indexedKeysOf, modelNamed, targetOf } from './registry.ts';
import { recordSchema } from './schema.ts';
import { columnsOf, snakeCase } from './sql.ts';

const models: readonly Model[] = MODELS;
const fieldsOf = (model: Model) => Object.entries(model.fields);

describe('the registry', () => {
  it('finds models by name, and nothing for other names', () => {
    for (const model of models) assert.equal(findModel(model.name), model);
    for (const name of ['', 'task', '__proto__', 'constructor']) assert.equal(findModel(name), undefined);
    assert.throws(() => modelNamed('Nothing'), /No model is named Nothing/);
    assert.equal(new Set(MODEL_NAMES).size, models.length);
    assert.equal(new Set(models.map(({ table }) => table)).size, models.length);
  });

  it('has only references to models that are before them: parents first', () => {
    for (const [index, model] of models.entries())
      for (const [field, { reference }] of fieldsOf(model)) {
        if (!reference) continue;
        const target = models.findIndex(({ name }) => name === reference.model);
        assert.ok(target >= 0 && target <= index, `${model.name}.${field}`);
      }
  });

  it('has a model for every reference, and for no other field', () => {
    assert.equal(targetOf(Comment, 'authorId'), User);
    for (const field of ['body', 'nothing']) assert.throws(() => targetOf(Comment, field), /is no reference/);
  });

  it('has a table, an audience and permissions for every model', () => {
    for (const model of models) {
      const { audience, permissions, fields, name } = model;
      const { archive: _, ...always } = permissions;
      assert.deepEqual(Object.keys(always), ['insert', 'update', 'delete'], name);
      const byServices = Object.entries(always).flatMap(([action, needed]) => (needed === 'service' ? [action] : []));
      assert.deepEqual(Object.keys(model.instead ?? {}), byServices, name);
      const hasHome =
        'workspaceId' in fields ||
        audience.kind === 'self' ||
        audience.kind === 'person' ||
        audience.kind === 'parent' ||
        audience.kind === 'membership';
      assert.ok(hasHome, name);
      if ('field' in audience && audience.field !== 'id') {
        const parent = fields[audience.field]?.reference;
        assert.ok(
          parent && !parent.many && parent.onDelete === 'delete',
          `${name} goes with what it takes its audience from`,
        );
        if (audience.kind !== 'project')
          assert.ok(fields[audience.field]?.immutable, `${name} never changes hands by itself`);
      }
      if ('workspaceId' in fields)
        assert.ok(fields['workspaceId']?.immutable && fields['workspaceId'].reference?.model === 'Workspace', name);
    }
  });

  it('has `own` and `author` only for models with owner fields', () => {
    for (const { name, permissions, owners, fields } of models) {
      for (const field of owners) assert.equal(fields[field]?.reference?.model, 'User', `${name}.${field}`);
      const asked = Object.values(permissions);
      if (asked.includes('author') || asked.includes('author_or_manage')) assert.ok(owners.length > 0, name);
      if (asked.includes('own')) assert.ok(owners.length > 0 || 'taskId' in fields, name);
      if (asked.includes('self_or_manage') || asked.includes('self_or_project')) assert.ok('userId' in fields, name);
      if (asked.includes('project') || asked.includes('self_or_project'))
        assert.equal(fields['projectId']?.reference?.model, 'Project', name);
    }
  });

  it('is unique by declared fields that are never null, because nulls never collide', () => {
    for (const { name, unique, fields } of models)
      for (const field of unique.flat())
        if (field !== 'groupId') assert.equal(fields[field]?.nullable, false, `${name}.${field}`);
  });

  it('has documentation for every field, and defaults that are valid values', () => {
    for (const model of models)
      for (const [name, field] of fieldsOf(model)) {
        assert.ok(field.doc.length > 3, `${model.name}.${name}`);
        assert.match(name, /^[a-z][A-Za-z]{1,30}$/);
        if (field.initial !== undefined)
          assert.deepEqual(field.read(field.initial), { ok: true, value: field.initial });
        // What is let go must be able to be without.
        if (field.reference?.onDelete === 'clear')
          assert.ok(field.nullable || field.reference.many, `${model.name}.${name}`);
        if (field.assigned === 'counter') assert.equal(field.sqlType, 'integer');
      }
  });

  it('finds all references to a model, except history', () => {
    for (const target of models) {
      const pointing = models.flatMap((model) =>
        fieldsOf(model).flatMap(([field, { reference }]) =>
          reference?.model === target.name && reference.onDelete !== 'keep' ? [`${model.name}.${field}`] : [],
        ),
      );
      assert.deepEqual(
        dependentsOf(target).map(({ model, field }) => `${model.name}.${field}`),
        pointing,
      );
    }
    assert.deepEqual(dependentsOf(User), []);
  });

  it('has batch reads by the id and by every reference that a client sets', () => {
    assert.deepEqual(indexedKeysOf(Comment), ['id', 'workspaceId', 'taskId', 'parentId']);
    for (const model of models) for (const key of indexedKeysOf(model)) assert.ok(key === 'id' || key in model.fields);
  });
});

describe('the tables of models', () => {
  it('have columns with different names that are no SQL keywords', () => {
    const reserved = new Set([
      'user',
      'order',
      'group',
      'table',
      'column',
      'desc',
      'end',
      'limit',
      'offset',
      'references',
      'check',
      'default',
      'primary',
      'record',
      'group_id',
    ]);
    for (const model of models) {
      const names = columnsOf(model).map(({ name }) => name);
      assert.equal(new Set(names).size, names.length);
      for (const name of names) assert.ok(/^[a-z_]{2,40}$/.test(name) && !reserved.has(name), `${model.name}.${name}`);
    }
    assert.equal(snakeCase('todayIndexReferenceDate'), 'today_index_reference_date');
  });
});

describe('the schema of a record', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  (formats as unknown as FormatsPlugin)(ajv, ['uuid', 'date-time', 'date', 'uri']);
  const times = { createdAt: '2026-11-21T00:00:00.000Z', updatedAt: '2026-11-21T00:00:00.000Z', archivedAt: null };

  const sampleOf = (model: Model): Record<string, unknown> =>
    Object.fromEntries(
      fieldsOf(model).map(([name, { sqlType, schema, reference, initial }]) => {
        if (reference) return [name, reference.many ? [randomUUID()] : randomUUID()];
        if (initial !== undefined && initial !== null) return [name, initial];
        const samples = {
          text: 'WEB',
          uuid: randomUUID(),
          'uuid[]': [],
          integer: 1,
          boolean: true,
          date: '2026-11-21',
          timestamptz: times.createdAt,
        };
        const texts: Record<string, string> = { color: '#abc', urlKey: 'web', repeatRule: 'FREQ=DAILY' };
        const text = name.endsWith('Url') ? 'https://example.org/a.png' : (texts[name] ?? samples.text);
        return [name, sqlType === 'text' ? ((schema['enum'] as string[] | undefined)?.[0] ?? text) : samples[sqlType]];
      }),
    );

  for (const model of models) {
    it(`of ${model.name} is valid JSON Schema, and accepts its records`, () => {
      const validate = ajv.compile(recordSchema(model));
      const record = buildRecord(model, randomUUID(), sampleOf(model), times);
      assert.ok(validate(record), JSON.stringify(validate.errors));
      const bare = Object.fromEntries(
        Object.entries(record).map(([name, value]) => [name, model.fields[name]?.nullable ? null : value]),
      );
      assert.ok(validate(bare), JSON.stringify(validate.errors));
      for (const broken of [
        { ...record, id: 5 },
        { ...record, more: 1 },
        { ...record, createdAt: undefined },
        { ...record, updatedAt: 'now' },
      ])
        assert.ok(!validate(broken));
      // A field reads what its schema takes.
      for (const [name, field] of fieldsOf(model)) assert.ok(field.read(record[name]).ok, `${model.name}.${name}`);
    });
  }
});
