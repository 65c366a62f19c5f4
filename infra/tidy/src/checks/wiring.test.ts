import assert from 'node:assert/strict';
import { plantedTree } from '../tree.ts';
import { advisoryLocks, bounds, errorCodes, operations, producers, sqlOutsideStore } from './wiring.ts';

describe('wiring', () => {
  it('refuses an error code without a use, and one without a test', () => {
    const tree = plantedTree({
      'packages/contracts/src/errors.ts': "'gone' 'conflict' 'not_found'",
      'packages/contracts/src/notes.ts': "contract({ errors: ['gone',\n  'conflict'] })",
      'services/a/src/b.ts': "throw new Fault('conflict'); throw new Fault('not_found');",
      'services/a/test/b.test.ts': "assert.equal(code, 'conflict'); assert.equal(code, 'gone');",
    });
    const messages = errorCodes(tree, ['gone', 'conflict', 'not_found']).map(({ message }) => message.split(':')[0]);
    assert.deepEqual(messages, ['nothing gives "gone"', 'no test names "not_found"']);
  });

  it('refuses an advisory lock with the number of another one, also of one that a migration took', () => {
    const tree = plantedTree({
      'services/a/src/migrations/0001-a.ts': 'pg_advisory_xact_lock(7368011)',
      'services/a/src/migrations/0002-b.ts': 'pg_advisory_xact_lock(7368011)',
      'services/a/src/lease.ts': 'const LEASE_KEY = 7_368_012;',
      'services/b/src/keys.ts': 'const KEYS_LOCK = 7_368_012;',
      'services/b/src/store.ts': 'const STORE_LOCK = 7_368_011;',
    });
    assert.deepEqual(
      advisoryLocks(tree).map(({ path }) => path),
      ['services/b/src/keys.ts', 'services/b/src/store.ts'],
    );
  });

  const read = { name: 'noteApi.readNote', path: '/api/notes/{id}', scope: 'read' };
  const routes = {
    'services/gateway/src/routes.ts':
      "{ contract: noteApi.readNote, to: 'a' }, { contract: open }, { contract: api.health }, ...rowsOf(pageApi, {})",
  };
  const messagesOf = (code: string, declared: Parameters<typeof operations>[1]): string[] =>
    operations(plantedTree({ ...routes, 'services/a/src/http/notes.ts': code }), declared).map(
      ({ message }) => message,
    );

  it('takes an operation that is mounted with a scope and has its row in the route table', () => {
    for (const call of [
      'mount(router, noteApi.readNote, read)',
      'mount(\n  router,\n  readNote,\n  read,\n)',
      'mountStream(app, noteApi.readNote, read)',
      'mountPageWith(pages, noteApi.readNote, {}, read)',
      'mountOperation(noteApi.readNote, read)',
      'mountable(\n  noteApi.readNote,\n  turnOf,\n  read,\n)',
      'new Map([[noteApi.readNote.id, answer]])',
      "if (pathname !== noteApi.readNote.path) throw new Fault('not_found')",
    ]) {
      assert.deepEqual(messagesOf(call, [read]), []);
    }
  });

  it('takes an operation whose whole API has rows in the route table', () => {
    const home = { name: 'pageApi.home', path: '/home', scope: 'read' };
    assert.deepEqual(messagesOf('mount(router, pageApi.home, open)', [home]), []);
  });

  it('refuses an operation that is declared and only called, or mounted under another name', () => {
    for (const call of ['caller.call(noteApi.readNote)', 'mount(router, noteApi.readNoteAgain, read)', ''])
      assert.match(messagesOf(call, [read])[0] ?? '', /nowhere mounted/);
  });

  it('refuses a public operation without a row in the route table', () => {
    const list = { name: 'noteApi.listNotes', path: '/api/notes', scope: 'read' };
    const inner = { name: 'noteApi.inner', path: '/internal/notes', scope: 'none', internal: { callers: ['a'] } };
    const found = messagesOf('mount(router, noteApi.listNotes, list); mount(router, noteApi.inner, inner)', [
      list,
      inner,
    ]);
    assert.deepEqual(found, ['noteApi.listNotes (/api/notes) is public and has no row in the route table']);
  });

  it('refuses an operation open to all callers, and an internal one outside /internal/', () => {
    const messages = messagesOf('mount(r, api.open, f); mount(r, api.inner, f); mount(r, api.health, f)', [
      { name: 'api.open', path: '/api/open', scope: 'none' },
      { name: 'api.inner', path: '/api/inner', scope: 'none', internal: { callers: ['a'] } },
      { name: 'api.health', path: '/health', scope: 'none' },
    ]);
    assert.equal(messages.length, 2);
    assert.match(messages[0] ?? '', /open to all callers/);
    assert.match(messages[1] ?? '', /under \/internal\//);
  });

  it('refuses a bound that no shipped code reads, and takes one by whatever name its table has [never.unbounded]', () => {
    const table = 'packages/contracts/src/limits.ts';
    const tree = plantedTree({
      [table]:
        'export const LIMITS = {\n  /** a: 1 */\n  usedMs: 1,\n  unusedMax: 1_000,\n  usedMsMax: 2,\n  takenMs: 3,\n} as const;',
      'services/a/src/b.ts':
        'wait(LIMITS.usedMs); const { max = LIMITS.usedMsMax } = limits;\nconst {\n  jobs,\n  takenMs,\n} = LIMITS;',
      'services/a/test/b.test.ts': 'fill(LIMITS.unusedMax);',
    });
    assert.deepEqual(
      bounds(tree, [table]).map(({ message }) => message.split(':')[0]),
      ['nothing reads unusedMax'],
    );
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

  it('refuses SQL outside the store and the migrations of a service', () => {
    const tree = plantedTree({
      'services/a/src/store/rows.ts': "query('select id from a.rows')",
      'services/a/src/migrations/0001-create-rows.ts': "query('insert into a.rows values (1)')",
      'services/a/src/rows.test.ts': "query('select id from a.rows')",
      'services/a/src/queries/rows.ts': "query('select id from a.rows')",
      'services/a/src/commit/write.ts': 'query(`set local lock_timeout = ${ms}`)',
      'services/a/src/commit/fine.ts': "fetch('update of a record', { method: 'delete from' }); handle('committed');",
    });
    assert.deepEqual(
      sqlOutsideStore(tree).map(({ path }) => path),
      ['services/a/src/commit/write.ts', 'services/a/src/queries/rows.ts'],
    );
  });
});
