import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openGate, type Verdict } from './cli-gate.ts';
import { insertion, linesOf, MAIN, TASKS, TransferSystem, type Report, type Row } from './transfer-system.ts';

describe('a workspace is exported and imported', function faults() {
  this.timeout(120_000);
  let system: TransferSystem;

  before(async () => (system = await TransferSystem.open('transfer-faults')));

  it('although the export is killed: the folder is incomplete until the same command has run again', async () => {
    const to = join(system.folder, 'killed');
    await using gate = await openGate(system.testSystem.baseUrl, (path, before) =>
      path === '/sync/bootstrap' && before === 1 ? 'hold' : 'pass',
    );
    const ended = await system.endedBy('SIGKILL', {
      url: gate.url,
      argv: ['export', system.source.id, '--to', to],
      when: () => gate.counts.get('/sync/bootstrap') === 2,
    });
    assert.equal(ended, 'SIGKILL');
    assert.deepEqual(existsSync(join(to, 'manifest.json')), false);
    const { code, err } = await system.wts(['import', to, '--into', system.source.id]);
    assert.deepEqual([code, err.split('\n')[0]], [1, `The export in ${to} is incomplete: it has no manifest.json.`]);
    await system.ok(['export', system.source.id, '--to', to]);
    await system.ok(['export', '--verify', to]);
  });

  it('although the disk is full at first: the folder is incomplete, and the same command works when there is space', async () => {
    const to = join(system.folder, 'full');
    const command = `ulimit -f 100; exec "$0" "$@"`;
    const words = [process.execPath, MAIN, 'export', system.source.id, '--to', to];
    const child = spawn('sh', ['-c', command, ...words], { env: { ...process.env, ...system.env() }, stdio: 'pipe' });
    const [said, exit] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    const [code] = exit as readonly unknown[];
    assert.deepEqual(
      [code, said.split('\n')[0]],
      [1, `The disk is full: ${join(to, '.partial', 'Task.ndjson')} could not be written.`],
    );
    const { code: refused, err } = await system.wts(['import', to, '--into', system.source.id]);
    assert.deepEqual([refused, err.includes('is incomplete')], [1, true]);
    await system.ok(['export', system.source.id, '--to', to]);
    await system.ok(['export', '--verify', to]);
  });

  it('although the import is interrupted and killed: the same command goes on, and makes nothing twice', async () => {
    const target = await system.workspace('Killed');
    let isHeld = true;
    await using gate = await openGate(system.testSystem.baseUrl, (path, before) =>
      isHeld && path === '/sync/mutate' && (before === 5 || before > 6) ? 'hold' : 'pass',
    );
    const argv = ['import', system.exported, '--into', target.id, '--keep-numbers'];
    const requests = (): number => gate.counts.get('/sync/mutate') ?? 0;
    const { url } = gate;
    assert.equal(await system.endedBy('SIGINT', { url, argv, when: () => requests() === 6 }), 130);
    assert.equal(await system.endedBy('SIGKILL', { url, argv, when: () => requests() === 8 }), 'SIGKILL');
    const begun = (await system.tasksOf(target.id)).length;
    assert.ok(begun > 0 && begun < TASKS, `${begun} tasks are there`);
    isHeld = false;
    const before = requests();
    const { comparison } = await system.importOk(argv.slice(1), { WTS_URL: url });
    assert.deepEqual([comparison.equal['Task'], comparison.sameNumbers], [TASKS, TASKS]);
    assert.equal((await system.tasksOf(target.id)).length, TASKS);
    const rest = requests() - before;
    await system.importOk([system.exported, '--new', 'Whole', '--key', `whole-${target.urlKey}`], {
      WTS_URL: url,
    });
    const whole = requests() - before - rest;
    assert.ok(rest <= whole - 5, `the rest took ${rest} requests of ${whole}`);
  });

  it('over a connection that loses answers, and a service that limits the rate, once', async () => {
    const target = await system.workspace('Lossy');
    const losses: readonly Verdict[] = ['pass', 'limit', 'cut', 'pass', 'cut'];
    await using gate = await openGate(system.testSystem.baseUrl, (path, before) =>
      path === '/sync/mutate'
        ? (losses[before] ?? 'pass')
        : path === '/sync/bootstrap' && before === 0
          ? 'limit'
          : 'pass',
    );
    const { comparison } = await system.importOk([system.exported, '--into', target.id], { WTS_URL: gate.url });
    assert.deepEqual([comparison.equal['Task'], comparison.refusedTotal], [TASKS, 0]);
    assert.equal((await system.tasksOf(target.id)).length, comparison.equal['Task']);
  });

  it('without what the service refuses: each refusal has its reason, and the exit code is 9', async () => {
    const target = await system.workspace('Taken');
    await system.sync.mutateOrThrow([
      insertion('Team', randomUUID(), { workspaceId: target.id, key: 'ENG', name: 'Another' }),
    ]);
    const done = await system.wts(['import', system.exported, '--into', target.id, '--json']);
    assert.equal(done.code, 9, done.err);
    const { comparison, refusedPath } = JSON.parse(done.out) as Report;
    const refusals = linesOf(refusedPath);
    assert.equal(comparison.refusedTotal, refusals.length);
    const reasons = new Set(refusals.map(({ model, error }) => `${String(model)}: ${String(error)}`));
    assert.ok(reasons.has('Team: Another Team has this key'), [...reasons].join('; '));
    assert.ok(reasons.has('Project: teamId: Team not found'), [...reasons].join('; '));
    assert.equal(comparison.equal['Label'], 1);
    assert.match(done.err, /\d+ refused, 0 different, 0 missing/);
  });

  it('with a task whose rule has ended since, but without that rule', async () => {
    const target = await system.workspace('Ended');
    const ended = join(system.folder, 'ended');
    await system.ok(['export', system.source.id, '--to', ended]);
    rewrite(ended, 'Task', (task) =>
      task['number'] === 10 ? { ...task, repeatRule: 'FREQ=DAILY;UNTIL=20200101', startDate: '2020-01-01' } : task,
    );
    const done = await system.wts(['import', ended, '--into', target.id, '--json']);
    assert.equal(done.code, 9);
    const { comparison, refusedPath } = JSON.parse(done.out) as Report;
    assert.deepEqual([comparison.refusedTotal, comparison.missing, comparison.equal['Comment']], [1, {}, 75]);
    assert.match(String(linesOf(refusedPath)[0]?.['error']), /repeatRule is over/);
    assert.equal((await system.tasksOf(target.id)).length, TASKS);
  });

  it('with --keep-ids only where the ids are free', async () => {
    const target = await system.workspace('Same');
    const done = await system.wts(['import', system.exported, '--into', target.id, '--keep-ids', '--json']);
    assert.equal(done.code, 9);
    const { comparison, refusedPath } = JSON.parse(done.out) as Report;
    assert.deepEqual(comparison.equal, {});
    assert.ok(linesOf(refusedPath).some(({ error }) => error === 'A Label with this id already exists'));
    assert.deepEqual(await system.tasksOf(target.id), []);
    const other = await system.wts(['import', system.exported, '--into', target.id]);
    assert.deepEqual([other.code, other.err.split('\n')[0]], [2, 'This import was begun with --keep-ids.']);
  });

  it('by who may change the target: a guest, a read-only key and a deleted workspace are refused at once', async () => {
    const target = await system.workspace('Closed');
    const guest = await system.testSystem.member('Gil', 'guest', target.id);
    const asGuest = await system.wts(['import', system.exported, '--into', target.id], {
      WTS_TOKEN: await system.keyOf(guest),
    });
    assert.deepEqual([asGuest.code, asGuest.err.includes('As a guest of closed-')], [6, true]);
    const { token } = await system.testSystem.keyOf({ userId: system.testSystem.userId }, { permissions: 'read-only' });
    const readOnly = await system.wts(['import', system.exported, '--into', target.id], { WTS_TOKEN: token });
    assert.equal(readOnly.code, 4, readOnly.err);
    await system.api.deleteWorkspace({ workspaceId: target.id, urlKey: target.urlKey });
    const deleted = await system.wts(['import', system.exported, '--into', target.id]);
    assert.deepEqual([deleted.code, deleted.err.includes('is deleted, so nothing can be imported')], [6, true]);
    assert.deepEqual(await system.tasksOf(target.id), []);
    const { err } = await system.ok(['export', target.urlKey, '--to', join(system.folder, 'deleted')]);
    assert.match(err, /The workspace is deleted; it was exported as it is now/);
    const unknown = await system.wts(['export', randomUUID(), '--to', join(system.folder, 'unknown')]);
    assert.deepEqual([unknown.code, existsSync(join(system.folder, 'unknown'))], [5, false]);
  });

  it('not into a key that is taken, and not from a folder that is none', async () => {
    const taken = await system.wts(['import', system.exported, '--new', 'Taken', '--key', system.source.urlKey]);
    assert.deepEqual(
      [taken.code, taken.err.includes(`There is a workspace ${system.source.urlKey} already`)],
      [6, true],
    );
    for (const argv of [
      ['import', system.exported],
      ['import', system.folder, '--into', system.source.id],
      ['export', system.source.id],
    ])
      assert.equal((await system.wts(argv)).code, 2, argv.join(' '));
    const moved = join(system.folder, 'moved');
    await system.ok(['export', system.source.id, '--to', moved]);
    renameSync(join(moved, 'Task.ndjson'), join(moved, 'Tasks.ndjson'));
    const { code, err } = await system.wts(['import', moved, '--into', system.source.id]);
    assert.deepEqual([code, err.split('\n')[0]], [1, 'Task.ndjson is missing.']);
  });
});

/** Changes records of an export, with the manifest that such an export would have. */
function rewrite(folder: string, model: string, change: (row: Row) => Row): void {
  const path = join(folder, `${model}.ndjson`);
  const lines = linesOf(path)
    .map((row) => `${JSON.stringify(change(row))}\n`)
    .join('');
  writeFileSync(path, lines);
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { files: { model: string }[] };
  const sha256 = createHash('sha256').update(lines).digest('hex');
  const files = manifest.files.map((file) =>
    file.model === model ? { ...file, bytes: Buffer.byteLength(lines), sha256 } : file,
  );
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files }));
}
