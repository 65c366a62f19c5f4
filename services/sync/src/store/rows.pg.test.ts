import assert from 'node:assert/strict';
import { TestEngines } from '../../test/test-engines.ts';

/** Enough for several pages of PostgreSQL. */
const TASKS = 60;

describe('the rows of tasks', () => {
  it('stay on their page when a field without an index changes, so that no index gets an entry', async () => {
    await using engines = await TestEngines.open('rows', 1);
    const owner = await engines.person();
    const workspaceId = await engines.workspace(owner);
    const description = 'The export stops after three failures. '.repeat(3);
    await Promise.all(
      Array.from({ length: TASKS }, (_, n) => owner.make('Task', { workspaceId, title: `Task ${n}`, description })),
    );
    const places = async (): Promise<Map<string, string>> => {
      const { rows } = await engines.pool.query<{ id: string; page: string }>(
        `select id, (ctid::text::point)[0]::text as page from sync.tasks order by ctid`,
      );
      return new Map(rows.map(({ id, page }) => [id, page]));
    };
    const before = await places();
    // One of each page: PostgreSQL frees the room of the second only when no transaction needs the first version any more.
    const changed = [...new Map([...before].map(([id, page]) => [page, id])).values()];
    assert.ok(changed.length > 2, 'the tasks are on several pages');
    for (const id of changed) await owner.change('Task', id, { priority: 3 });
    const after = await places();
    for (const id of changed) assert.equal(after.get(id), before.get(id));
  });
});
