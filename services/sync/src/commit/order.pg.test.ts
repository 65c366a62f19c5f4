import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { EntryChunk } from '@wts/contracts';
import { Client } from 'pg';
import { HAS_GAPS } from '@wts/testkit';
import { TestEngines, change, type TestPerson } from '../../test/test-engines.ts';

describe('the order of the log', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => {
    ({ engines, owner, workspace } = await TestEngines.withOwner('order', 4));
    await owner.make('Project', { workspaceId: workspace, key: 'TAKEN', name: 'Taken' });
  });
  after(() => engines[Symbol.asyncDispose]());

  const task = (title: string) => change('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title });
  const project = (key: string) =>
    change('INSERT', 'Project', randomUUID(), { workspaceId: workspace, key, name: key });

  async function client(): Promise<Client> {
    const opened = new Client({ connectionString: engines.database.url });
    opened.on('error', () => {});
    await opened.connect();
    return opened;
  }

  /** Checks repeatedly, in one statement and so one snapshot, that a reader who sees a position sees every position below it. */
  function watch(): { stop(): Promise<[head: bigint, entries: number][]> } {
    let isOver = false;
    const seen: [bigint, number][] = [];
    const watching = (async () => {
      const reader = await client();
      while (!isOver) {
        const { rows } = await reader.query<{ head: string; entries: string; lowest: string }>(
          `select max(sync_id)::text as head, count(*)::text as entries, min(sync_id)::text as lowest from sync.sync_actions`,
        );
        const [one] = rows;
        if (!HAS_GAPS) assert.equal(BigInt(one!.entries), BigInt(one!.head) - BigInt(one!.lowest) + 1n);
        seen.push([BigInt(one!.head), Number(one!.entries)]);
      }
      await reader.end();
      return seen;
    })();
    return {
      stop() {
        isOver = true;
        return watching;
      },
    };
  }

  it('has no hole and no duplicate under 64 writers on four replicas, with refused mutations and an open transaction [never.actions-lost]', async () => {
    const beside = await client();
    await beside.query(`begin; create table held_open (n int); select pg_current_xact_id()`);
    const from = await engines.head();
    const chunks: EntryChunk[] = [];
    for (const engine of engines.all) engine.onCommitted((chunk) => chunks.push(chunk));

    const watching = watch();
    const accepted = (
      await Promise.all(
        Array.from({ length: 64 }, async (_, writer) => {
          const places: bigint[] = [];
          for (let round = 0; round < 2; round += 1) {
            const units = [
              owner.unit(task(`Task ${writer}.${round}`)),
              // Refused by a constraint when it is written: the batch is rolled back and split.
              ...(writer % 8 === 0 ? [owner.unit(project('TAKEN'))] : []),
              // Refused by a rule.
              ...(writer % 5 === 0 ? [owner.unit(change('UPDATE', 'Task', randomUUID(), { title: 'x' }))] : []),
              owner.unit(task(`Task ${writer}.${round}b`)),
            ];
            for (const outcome of await engines.all[writer % 4]!.commit(units))
              if (outcome.ok) places.push(outcome.lastId);
          }
          return places;
        }),
      )
    ).flat();
    const seen = await watching.stop();
    assert.ok(seen.length > 3);
    await beside.query('rollback');
    await beside.end();

    const entries = await engines.entries(from);
    assert.equal(entries.length, 64 * 2 * 2);
    const positions = entries.map(({ syncId }) => BigInt(syncId));
    assert.deepEqual(
      accepted.toSorted((a, b) => Number(a - b)),
      positions,
    );
    if (!HAS_GAPS) assert.deepEqual([positions[0], positions.at(-1)], [from + 1n, from + BigInt(entries.length)]);
    const all = (await engines.entries()).map(({ syncId }) => BigInt(syncId));
    for (const [head, count] of seen) assert.equal(count, all.filter((position) => position <= head).length);
    // The chunks that were published in memory are equal to the log.
    const handed = chunks.toSorted((a, b) => Number(BigInt(a.first) - BigInt(b.first)));
    assert.deepEqual(
      handed.flatMap(({ actions }) => actions),
      entries,
    );
    let last = from;
    for (const chunk of handed) {
      assert.equal(BigInt(chunk.prev), last);
      last = BigInt(chunk.last);
    }
    // Numbers of tasks are dense [sync.mutate.task-number].
    const numbers = entries.map(({ record }) => Number(record['number'])).toSorted((a, b) => a - b);
    assert.deepEqual(
      numbers,
      entries.map((_, index) => index + 1),
    );
  });

  it('follows the order of a request, also when one of its mutations splits the batch [sync.mutate.order] [sync.mutate.results]', async () => {
    const from = await engines.head();
    const units = Array.from({ length: 100 }, (_, index) =>
      owner.unit(index === 61 ? project('TAKEN') : task(`Nr ${index}`)),
    );
    const outcomes = await engines.any.commit(units);
    const refusals = outcomes.flatMap((outcome, index) => (outcome.ok ? [] : [{ index, ...outcome }]));
    assert.deepEqual(refusals, [{ index: 61, ok: false, code: 'conflict', error: 'Another Project has this key' }]);
    const titles = (await engines.entries(from)).map(({ record }) => record['title']);
    assert.deepEqual(
      titles,
      Array.from({ length: 100 }, (_, index) => `Nr ${index}`).filter((_, index) => index !== 61),
    );
  });

  it('shows each mutation of a request the ones before it', async () => {
    const home = { workspaceId: workspace };
    const [projectId, taskId, label] = [randomUUID(), randomUUID(), randomUUID()];
    const outcomes = await engines.any.commit([
      owner.unit(change('INSERT', 'Label', label, { ...home, name: 'New' })),
      owner.unit(change('INSERT', 'Project', projectId, { ...home, key: 'SEEN', name: 'Seen', isPrivate: true })),
      owner.unit(change('INSERT', 'Task', taskId, { ...home, title: 'In it', projectId, labelIds: [label] })),
      owner.unit(change('INSERT', 'Comment', randomUUID(), { ...home, taskId, body: 'On it' })),
      owner.unit(change('UPDATE', 'Task', taskId, { title: 'Renamed' })),
      owner.unit(change('DELETE', 'Label', label)),
      owner.unit(change('ARCHIVE', 'Task', taskId, { archivedAt: 1_795_222_326_625 })),
      owner.unit(change('UNARCHIVE', 'Task', taskId, {})),
      owner.unit(change('UPDATE', 'Project', projectId, { isPrivate: false })),
      owner.unit(change('DELETE', 'Project', projectId)),
      owner.unit(change('UPDATE', 'Task', taskId, { title: 'Gone' })),
    ]);
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [...Array.from({ length: 10 }, () => true), false],
    );
    assert.equal(await engines.stored('Task', taskId), null);
  });

  it('gives the first tasks of a new workspace dense numbers through several replicas [sync.mutate.task-number]', async () => {
    for (let round = 0; round < 3; round += 1) {
      const home = await engines.workspace(owner);
      const made = await Promise.all(
        engines.all.flatMap((engine) =>
          [1, 2, 3].map(() =>
            engines.send(
              owner.unit(change('INSERT', 'Task', randomUUID(), { workspaceId: home, title: 'First' })),
              engine,
            ),
          ),
        ),
      );
      const numbers = made.map((outcome) =>
        outcome.ok ? Number(outcome.mutations[0]?.record['number']) : outcome.error,
      );
      assert.deepEqual(
        numbers.toSorted((a, b) => Number(a) - Number(b)),
        made.map((_, index) => index + 1),
      );
    }
  });

  it('skips no number when a task is refused after it was numbered', async () => {
    const home = await engines.workspace(owner);
    const first = change('INSERT', 'Task', randomUUID(), { workspaceId: home, title: 'One' });
    const unit = { ...owner.unit(first), mutations: [first, change('UPDATE', 'Task', randomUUID(), { title: 'x' })] };
    const outcomes = await engines.any.commit([unit, owner.unit({ ...first, modelId: randomUUID() })]);
    assert.equal(outcomes[0]?.ok, false);
    assert.equal(outcomes[1]?.ok && outcomes[1].mutations[0]?.record['number'], 1);
  });
});
