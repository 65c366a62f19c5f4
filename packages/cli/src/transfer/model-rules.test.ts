import assert from 'node:assert/strict';
import { MODELS } from '@wts/models';
import { IMPORTED_MODELS, isImported, peopleIn, ruleOf, type ExportRecord } from './model-rules.ts';

const NOT_CREATED_BY_CLIENTS = ['Workspace', 'User', 'WorkspaceMember'];

describe('what an import knows of the models', () => {
  it('is what they declare, in their order', () => {
    const created = MODELS.filter(({ permissions }) => permissions.insert !== 'service');
    assert.deepEqual(
      created.map(({ name }) => name),
      IMPORTED_MODELS,
    );
    for (const { name, fields, unique } of created) {
      assert.ok(isImported(name));
      const rule = ruleOf(name);
      const entries = Object.entries(fields);
      const references = entries.flatMap(([field, { reference, assigned }]) =>
        reference && !assigned && reference.model !== 'User' && reference.model !== 'Workspace'
          ? [[field, reference.model]]
          : [],
      );
      assert.deepEqual(rule.references, Object.fromEntries(references), name);
      const people = entries.filter(([, { reference }]) => reference?.model === 'User');
      assert.deepEqual(rule.people, namesOf(people.filter(([, { assigned }]) => assigned === undefined)), name);
      assert.deepEqual(rule.serverSets, namesOf(entries.filter(([, { assigned }]) => assigned !== undefined)), name);
      for (const [field, { nullable, initial }] of entries) if (nullable) assert.equal(initial, null, field);
      if (rule.key) assert.deepEqual(unique, [rule.key], name);
      const record = Object.fromEntries(people.map(([field]) => [field, field])) as object as ExportRecord;
      assert.deepEqual(peopleIn(record).toSorted(), namesOf(people).toSorted(), name);
    }
  });

  it('leaves out what no client creates', () =>
    assert.deepEqual(
      MODELS.map(({ name }) => name).filter((name) => !isImported(name)),
      NOT_CREATED_BY_CLIENTS,
    ));
});

function namesOf(entries: readonly (readonly [string, unknown])[]): string[] {
  return entries.map(([name]) => name);
}
