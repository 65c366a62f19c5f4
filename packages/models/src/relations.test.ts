import assert from 'node:assert/strict';
import { Comment } from './models/comment.ts';
import { Project } from './models/project.ts';
import { Task } from './models/task.ts';
import { User } from './models/user.ts';
import { MODELS } from './registry.ts';
import { inversesOf, relationsOf, singularOf } from './relations.ts';

describe('the relations of models', () => {
  it('have names that no field of the model has, and no other relation', () => {
    for (const model of MODELS) {
      const relations = [...relationsOf(model), ...inversesOf(model)].map(({ name }) => name);
      const names = [...Object.keys(model.fields), 'id', 'createdAt', 'updatedAt', 'archivedAt', ...relations];
      assert.equal(new Set(names).size, names.length, `${model.name}: ${names.toSorted().join(' ')}`);
      for (const name of relations) assert.match(name, /^[a-z][A-Za-z]+$/);
    }
  });

  it('lead from both sides to the same records', () => {
    const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
    assert.deepEqual(names(relationsOf(Comment)), ['workspace', 'task', 'author', 'parent']);
    assert.ok(names(relationsOf(Task)).includes('labels'));
    assert.deepEqual(names(inversesOf(Project)), ['members', 'tasks']);
    assert.deepEqual(names(inversesOf(Task)), ['checklist', 'comments']);
    for (const model of MODELS)
      for (const { source, field } of inversesOf(model)) {
        const back = relationsOf(source).find((relation) => relation.field === field);
        assert.equal(back?.target, model, `${source.name}.${field}`);
      }
  });

  it('leave out the references that the server assigns', () => {
    const fields = inversesOf(User).map(({ field }) => field);
    assert.ok(!fields.includes('creatorId') && !fields.includes('authorId'));
  });

  it('name one record and several', () => {
    assert.equal(singularOf(Task), 'task');
    assert.equal(new Set(MODELS.flatMap((model) => [singularOf(model), model.plural])).size, 2 * MODELS.length);
  });
});

describe('the words by which people find a record', () => {
  it('are in text fields of the model', () => {
    for (const { name, search, fields } of MODELS)
      for (const field of search) assert.equal(fields[field]?.sqlType, 'text', `${name}.${field}`);
  });
});
