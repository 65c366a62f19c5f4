import assert from 'node:assert/strict';
import type { Rule } from '@wts/test-e2e/requirements';
import { plantedTree } from '../tree.ts';
import { coverage } from './requirements.ts';

const kept: Rule = {
  id: 'notes.read.own-only',
  source: 'Specification 4.1',
  text: '…',
  home: 'services/a/src/read.ts',
};
const home = { 'services/a/src/read.ts': '// Keeps notes.read.own-only.\nexport const read = 1;' };
const cited = { 'services/a/test/read.test.ts': "it('shows nobody else\\'s [notes.read.own-only]', () => {});" };

const messages = (files: Record<string, string>, ...rules: Rule[]) =>
  coverage(plantedTree(files), rules).map(({ message }) => message);

describe('the list of requirements', () => {
  it('is content when list, home and test name the rule', () =>
    assert.deepEqual(messages({ ...home, ...cited }, kept), []));

  it('reads several rules out of one pair of brackets', () => {
    const other: Rule = { ...kept, id: 'notes.read.all' };
    const both = { 'services/a/test/read.test.ts': "it('shows all [notes.read.own-only, notes.read.all]', () => {});" };
    const named = { 'services/a/src/read.ts': '/** Keeps notes.read.own-only, notes.read.all. */' };
    assert.deepEqual(messages({ ...named, ...both }, kept, other), []);
  });

  it('requires a test with the id of each rule in its title', () => {
    const elsewhere = {
      'services/a/test/read.test.ts': "// [notes.read.own-only]\nit('shows', () => list[notes.read.own]);",
    };
    assert.deepEqual(messages({ ...home, ...elsewhere }, kept), ['no test has [notes.read.own-only] in its title']);
  });

  it('requires a home for each rule that exists and mentions it in a comment', () => {
    assert.match(messages(cited, kept)[0] ?? '', /does not exist/);
    const silent = {
      'services/a/src/read.ts': "export const id = 'notes.read.own-only';\n// Keeps notes.read.own-only-twice.",
    };
    assert.match(messages({ ...silent, ...cited }, kept)[0] ?? '', /does not mention it/);
  });

  it('refuses a test that cites no rule of the list', () => {
    const stranger = { 'services/a/test/x.test.ts': 'describe(`all [notes.gone.away] of it`, () => {});' };
    assert.deepEqual(messages({ ...home, ...cited, ...stranger }, kept), [
      'a test cites [notes.gone.away], which is no rule of test-e2e/requirements',
    ]);
  });

  it('refuses the same id twice', () =>
    assert.deepEqual(messages({ ...home, ...cited }, kept, kept).slice(0, 1), ['notes.read.own-only stands twice']));
});
