import assert from 'node:assert/strict';
import { plantedTree } from '../tree.ts';
import { errorCodes, operations, producers } from './wiring.ts';

describe('wiring', () => {
  it('refuses an error code nobody gives, and one no test names', () => {
    const tree = plantedTree({
      'packages/contracts/src/errors.ts': "'gone' 'conflict' 'not_found'",
      'services/a/src/b.ts': "throw new Fault('conflict'); throw new Fault('not_found');",
      'services/a/test/b.test.ts': "assert.equal(code, 'conflict'); assert.equal(code, 'gone');",
    });
    const messages = errorCodes(tree, ['gone', 'conflict', 'not_found']).map(({ message }) => message.split(':')[0]);
    assert.deepEqual(messages, ['nothing gives "gone"', 'no test names "not_found"']);
  });

  const read = { name: 'noteApi.readNote', path: '/api/notes/{id}', scope: 'read' };

  it('takes an operation that is mounted with a scope', () => {
    for (const call of [
      'mount(router, noteApi.readNote, read)',
      'mount(\n  router,\n  readNote,\n  read,\n)',
      'mountStream(app, noteApi.readNote, read)',
    ]) {
      assert.deepEqual(operations(plantedTree({ 'services/a/src/http/notes.ts': call }), [read]), []);
    }
  });

  it('refuses an operation that is declared and only called, or mounted under another name', () => {
    for (const call of ['caller.call(noteApi.readNote)', 'mount(router, noteApi.readNoteAgain, read)', '']) {
      const findings = operations(plantedTree({ 'services/a/src/http/notes.ts': call }), [read]);
      assert.match(findings[0]?.message ?? '', /nowhere mounted/);
    }
  });

  it('refuses an operation open to everybody, and an internal one outside /internal/', () => {
    const tree = plantedTree({
      'services/a/src/a.ts': 'mount(r, api.open, f); mount(r, api.inner, f); mount(r, api.health, f)',
    });
    const messages = operations(tree, [
      { name: 'api.open', path: '/api/open', scope: 'none' },
      { name: 'api.inner', path: '/api/inner', scope: 'none', internal: true },
      { name: 'api.health', path: '/health', scope: 'none' },
    ]).map(({ message }) => message);
    assert.equal(messages.length, 2);
    assert.match(messages[0] ?? '', /open to everybody/);
    assert.match(messages[1] ?? '', /under \/internal\//);
  });

  it('refuses a subject with two producers, and one with none', () => {
    const tree = plantedTree({
      'services/a/src/a.ts': 'nc.publish(STREAM.one, data); js.publish(STREAM.two, data)',
      'services/b/src/b.ts': 'nc.publish(\n  STREAM.two, data)',
      'services/b/src/b.test.ts': 'nc.publish(STREAM.one, data)',
    });
    const messages = producers(tree, ['one', 'two', 'three']).map(({ message }) => message);
    assert.deepEqual(messages, [
      'STREAM.two needs exactly one producer; published by services/a/src/a.ts and services/b/src/b.ts',
      'STREAM.three needs exactly one producer; nothing publishes it',
    ]);
  });
});
