import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { TestEngines, applied, refused, type TestPerson } from '../../test/test-engines.ts';
import { PURGE_CLIENT, TrashPurge, type PurgeOptions } from './trash.ts';

const NO_PERSON = '00000000-0000-0000-0000-000000000000';

describe('the purge of the Trash', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => {
    engines = await TestEngines.open('trash_purge', 2, { recordsMax: 20 });
    owner = await engines.person();
  });
  beforeEach(async () => {
    workspace = await engines.workspace(owner);
    await engines.pool.query('delete from sync.tasks');
    await ranBefore();
  });
  after(() => engines[Symbol.asyncDispose]());

  const ranBefore = async (days = 30, ago = '1 minute'): Promise<void> => {
    await engines.pool.query(
      `insert into sync.purge_state as state (retention_days, last_round_at) values ($1, now() - $2::interval)
       on conflict (is_only_row) do update set retention_days = excluded.retention_days, last_round_at = excluded.last_round_at, waits_until = null`,
      [days, ago],
    );
  };
  /** As if it had been archived so long ago. */
  const age = async (table: string, id: string, days: number): Promise<string> => {
    const { rows } = await engines.pool.query<{ at: string }>(
      `with aged as (select id, to_char((now() - make_interval(days => $2)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from sync.${table} where id = $1)
       update sync.${table} t set archived_at = aged.at::timestamptz, record = (t.record::jsonb || jsonb_build_object('archivedAt', aged.at))::json
       from aged where t.id = aged.id returning aged.at`,
      [id, days],
    );
    return rows[0]!.at;
  };
  const task = async (days: number | null, more: object = {}): Promise<string> => {
    const id = await owner.make('Task', { workspaceId: workspace, title: 'T', ...more });
    if (days === null) return id;
    applied(await owner.try('ARCHIVE', 'Task', id));
    await age('tasks', id, days);
    return id;
  };
  const exists = async (id: string): Promise<boolean> => (await engines.stored('Task', id)) !== null;

  function purger(more: Partial<PurgeOptions> = {}) {
    const seen = { purged: 0, delayed: 0, waiting: [] as number[], logged: [] as [string, object][] };
    const note = (context: object, text: string): void => void seen.logged.push([text, context]);
    const purge = new TrashPurge({
      pool: engines.checks,
      engine: engines.any,
      retentionDays: 30,
      logger: { info: note, warn: note } as unknown as PurgeOptions['logger'],
      watch: {
        onPurged: (tasks) => (seen.purged += tasks),
        onDelayed: () => (seen.delayed += 1),
        onWaiting: (tasks) => seen.waiting.push(tasks),
      },
      ...more,
    });
    const round = async (): Promise<void> => {
      while ((await purge.run()) === 'more');
    };
    return { purge, round, seen };
  }

  it('deletes tasks that were archived longer ago than the retention, with everything in them, and no others [trash.purge]', async () => {
    const [old, younger, open] = [await task(31), await task(29), await task(null)];
    const comment = await owner.make('Comment', { workspaceId: workspace, taskId: await task(null), body: 'Kept' });
    const inside = await owner.make('Comment', { workspaceId: workspace, taskId: open, body: 'Kept' });
    const head = await engines.head();
    const { round, seen } = purger();
    await round();
    assert.deepEqual([await exists(old), await exists(younger), await exists(open)], [false, true, true]);
    assert.ok((await engines.stored('Comment', comment)) && (await engines.stored('Comment', inside)));
    const [entry, ...rest] = await engines.entries(head);
    assert.deepEqual(rest, []);
    assert.deepEqual(
      [entry?.action, entry?.modelId, entry?.clientId, entry?.actorId, entry?.groupId],
      ['DELETE', old, PURGE_CLIENT, NO_PERSON, workspace],
    );
    assert.equal(entry?.record['title'], 'T');
    assert.deepEqual([seen.purged, seen.waiting.at(-1)], [1, 0]);
  });

  it('deletes the comments and the checklist of a task as entries of their own, and what is too much for one commit by a sweep [trash.purge.bounds]', async () => {
    const id = await owner.make('Task', { workspaceId: workspace, title: 'Large' });
    for (let number = 0; number < 30; number += 1)
      await owner.make('TaskChecklistItem', { workspaceId: workspace, taskId: id, title: 'Step' });
    applied(await owner.try('ARCHIVE', 'Task', id));
    await age('tasks', id, 40);
    const small = await task(31);
    const head = await engines.head();
    await purger().round();
    await engines.sweep();
    const deleted = (await engines.entries(head)).filter(({ action }) => action === 'DELETE');
    assert.deepEqual(
      ['Task', 'TaskChecklistItem'].map((name) => deleted.filter(({ modelName }) => modelName === name).length),
      [2, 30],
    );
    assert.ok(!(await exists(small)));
  });

  it('deletes no more in one commit than a commit should hold, and each task once with two replicas [trash.purge.bounds]', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => task(31)));
    const head = await engines.head();
    await Promise.all([purger().round(), purger().round()]);
    const entries = await engines.entries(head);
    assert.deepEqual(entries.map(({ modelId }) => modelId).toSorted(), ids.toSorted());
    const commits = [...Map.groupBy(entries, ({ clientTxId }) => clientTxId).values()].map((all) => all.length);
    assert.ok(Math.max(...commits) <= 20, JSON.stringify(commits));
  });

  it('goes on with the tasks of others when a workspace or a task cannot be deleted, and says so [trash.purge]', async () => {
    const [stuck, gone] = [await engines.workspace(owner), await engines.workspace(owner)];
    for (const id of [stuck, gone]) {
      const { urlKey } = (await engines.stored('Workspace', id))!.record as { urlKey: string };
      applied(await owner.try('ARCHIVE', 'Workspace', id, { urlKey }));
      await age('workspaces', id, id === stuck ? 9 : 8);
    }
    const [faulty, ...others] = [await task(40), await task(33), await task(32)];
    const { round, seen } = purger({
      engine: {
        commit: async (units) => {
          const ids = units.flatMap(({ step }) => (step && 'archivedAt' in step ? [...step.archivedAt.keys()] : []));
          if (ids.includes(faulty)) throw new TypeError('a fault');
          if (ids.includes(stuck)) return [{ ok: false, code: 'conflict', error: 'refused' }];
          return engines.any.commit(units);
        },
      },
    });
    await round();
    assert.deepEqual(
      [await engines.stored('Workspace', stuck), await engines.stored('Workspace', gone)].map((one) => one !== null),
      [true, false],
    );
    assert.deepEqual(await Promise.all([faulty, ...others].map(exists)), [true, false, false]);
    const named = seen.logged.map(([, context]) => (context as { id?: string }).id);
    assert.deepEqual(new Set(named), new Set([stuck, faulty]));
    await engines.pool.query('delete from sync.workspaces where id = $1', [stuck]);
  });

  it('says when no record is archived as its row is, and goes on with others [trash.purge]', async () => {
    const [odd, other] = [await task(40), await task(31)];
    await engines.pool.query(`update sync.tasks set archived_at = archived_at - interval '1 day' where id = $1`, [odd]);
    const { round, seen } = purger();
    await round();
    assert.deepEqual([await exists(odd), await exists(other)], [true, false]);
    assert.match(seen.logged.at(-1)?.[0] ?? '', /not archived since the time of their row/);
  });

  it('counts from the last time that a task was archived [trash.purge]', async () => {
    const id = await task(40);
    applied(await owner.try('UNARCHIVE', 'Task', id));
    applied(await owner.try('ARCHIVE', 'Task', id));
    await purger().round();
    assert.ok(await exists(id));
  });

  it('leaves out a task that was restored, or archived again, after the purge had found it [trash.purge.restored]', async () => {
    const [restored, again, gone] = [await task(31), await task(32), await task(33)];
    const engine = engines.any;
    let done = false;
    const { round } = purger({
      engine: {
        commit: async (units) => {
          if (!done) {
            done = true;
            applied(await owner.try('UNARCHIVE', 'Task', restored));
            applied(await owner.try('UNARCHIVE', 'Task', again));
            applied(await owner.try('ARCHIVE', 'Task', again));
          }
          return engine.commit(units);
        },
      },
    });
    await round();
    assert.deepEqual([await exists(restored), await exists(again), await exists(gone)], [true, true, false]);
    assert.equal(refused(await owner.try('UNARCHIVE', 'Task', gone)).code, 'not_found');
  });

  it('of a task that is restored at the same time either deletes it or leaves it restored [trash.purge.restored]', async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const id = await task(31);
      const [outcome] = await Promise.all([owner.try('UNARCHIVE', 'Task', id), purger().round()]);
      const stored = await engines.stored('Task', id);
      if (outcome.ok) assert.equal(stored?.record['archivedAt'], null);
      else assert.deepEqual([outcome.code, stored], ['not_found', null]);
    }
  });

  it('goes on where a step failed, and deletes nothing twice [trash.purge.bounds]', async () => {
    const ids = await Promise.all(Array.from({ length: 22 }, () => task(31)));
    const engine = engines.any;
    let calls = 0;
    const { purge, round } = purger({
      engine: {
        commit: async (units) => {
          calls += 1;
          const outcomes = await engine.commit(units);
          if (calls === 1) throw new Error('Connection terminated unexpectedly');
          return outcomes;
        },
      },
    });
    const head = await engines.head();
    await assert.rejects(purge.run());
    await round();
    assert.deepEqual((await engines.entries(head)).map(({ modelId }) => modelId).toSorted(), ids.toSorted());
  });

  it('never deletes a task where the retention is 0 [trash.purge]', async () => {
    const id = await task(4000);
    await ranBefore(0);
    await purger({ retentionDays: 0 }).round();
    assert.ok(await exists(id));
  });

  it('keeps tasks longer where their workspace does, however many they are, and deletes those of others behind them [trash.retention]', async () => {
    const kept = await Promise.all(Array.from({ length: 5 }, () => task(50)));
    applied(await owner.try('UPDATE', 'Workspace', workspace, { trashRetentionDays: 60 }));
    const longer = await task(61);
    workspace = await engines.workspace(owner);
    const other = await task(31);
    const { round, seen } = purger();
    await round();
    assert.deepEqual(await Promise.all([...kept, longer, other].map(exists)), [...kept.map(() => true), false, false]);
    assert.equal(seen.purged, 2);
    const later = await task(31);
    await round();
    assert.ok(!(await exists(later)));
  });

  it('waits a day in a database in which none ran before, and says how many tasks wait [trash.purge.delays]', async () => {
    const id = await task(31);
    await engines.pool.query('delete from sync.purge_state');
    const { round, seen } = purger();
    await round();
    assert.ok(await exists(id));
    assert.deepEqual([seen.delayed, seen.waiting.at(-1), seen.purged], [1, 1, 0]);
    assert.match(seen.logged[0]?.[0] ?? '', /the first purge of the Trash waits a day/);
    await round();
    assert.ok(await exists(id));
    assert.equal(seen.delayed, 1);
    await engines.pool.query(`update sync.purge_state set waits_until = now()`);
    await round();
    assert.ok(!(await exists(id)));
  });

  it('waits a day after the retention was lowered, and not after it was raised [trash.purge.delays]', async () => {
    for (const [before, now, isDelayed] of [
      [90, 7, true],
      [0, 30, true],
      [7, 30, false],
      [30, 0, false],
    ] as const) {
      await ranBefore(before);
      const { round, seen } = purger({ retentionDays: now });
      await round();
      assert.equal(seen.delayed, Number(isDelayed), `${before} to ${now}`);
      if (isDelayed) assert.match(seen.logged[0]?.[0] ?? '', /was lowered: the purge waits a day/);
    }
  });

  it('waits an hour when the clock of the database moved by more than a day in either direction, and then goes on [trash.purge.delays]', async () => {
    for (const ago of ['1 year', '-1 year', '2 days']) {
      const id = await task(31);
      await ranBefore(30, ago);
      const { round, seen } = purger();
      await round();
      assert.ok(await exists(id), ago);
      assert.match(seen.logged[0]?.[0] ?? '', /Check the clock of the database server/);
      await round();
      assert.deepEqual([await exists(id), seen.delayed], [true, 1]);
      const { rows } = await engines.pool.query<{ seconds: number }>(
        `update sync.purge_state set waits_until = waits_until - interval '1 hour'
         returning extract(epoch from waits_until - now())::float8 as seconds`,
      );
      assert.ok(rows[0]!.seconds <= 0);
      await round();
      assert.ok(!(await exists(id)));
    }
  });

  it('waits no more than a day after the clock went back [trash.purge.delays]', async () => {
    await ranBefore();
    await engines.pool.query(`update sync.purge_state set waits_until = now() + interval '1 year'`);
    await purger().round();
    const { rows } = await engines.pool.query<{ isSoon: boolean }>(
      `select waits_until <= now() + interval '1 day' as "isSoon" from sync.purge_state`,
    );
    assert.deepEqual(rows, [{ isSoon: true }]);
  });

  it('refuses a change of a purged task alone, and lets the same client create a copy under another id [trash.purge]', async () => {
    const [gone, kept] = [await task(31), await task(null)];
    await purger().round();
    const outcomes = await engines.any.commit([
      owner.unit({ action: 'UPDATE', modelName: 'Task', modelId: gone, payload: { title: 'Offline' } }),
      owner.unit({ action: 'UPDATE', modelName: 'Task', modelId: kept, payload: { title: 'Offline' } }),
      owner.unit({ action: 'UNARCHIVE', modelName: 'Task', modelId: gone, payload: {} }),
      owner.unit({
        action: 'INSERT',
        modelName: 'Task',
        modelId: randomUUID(),
        payload: { workspaceId: workspace, title: 'Copy' },
      }),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.ok ? 'applied' : outcome.code)),
      ['not_found', 'applied', 'not_found', 'applied'],
    );
  });

  it('deletes a workspace with everything in it a week after its owner did, and no restored one [trash.workspace.delete]', async () => {
    const [project, id] = [
      await owner.make('Project', { workspaceId: workspace, key: 'P', name: 'P' }),
      await task(null),
    ];
    const member = await engines.join(workspace, 'member');
    for (let number = 0; number < 22; number += 1) await task(null, { projectId: project });
    const { urlKey } = (await engines.stored('Workspace', workspace))!.record as { urlKey: string };
    applied(await owner.try('ARCHIVE', 'Workspace', workspace, { urlKey }));
    await age('workspaces', workspace, 6);
    await purger().round();
    assert.ok(await engines.stored('Workspace', workspace));
    await age('workspaces', workspace, 8);
    await purger({ retentionDays: 0 }).round();
    assert.equal(await engines.stored('Workspace', workspace), null);
    await engines.sweep();
    assert.deepEqual([await exists(id), await engines.stored('Project', project)], [false, null]);
    const { rows } = await engines.pool.query('select from sync.workspace_members where user_id = $1', [member.id]);
    assert.deepEqual(rows, []);
    assert.equal(
      refused(await member.try('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title: 'Late' })).code,
      'not_found',
    );
  });
});
