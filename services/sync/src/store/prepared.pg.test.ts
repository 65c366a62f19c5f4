import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { applied, change, only, TestEngines, type TestPerson } from '../../test/test-engines.ts';

describe('the statements of a commit', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => ({ engines, owner, workspace } = await TestEngines.withOwner('prepared', 1)));
  after(() => engines[Symbol.asyncDispose]());

  const task = (title: string) => change('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title });

  it('store and find any text that a caller may choose', async () => {
    const awkward = [
      'NULL',
      '',
      '{}',
      '{a,b}',
      `"`,
      `\\`,
      `'`,
      `'; drop table x; --`,
      '\u001f',
      '\\u0000',
      'ß "é" 🙂',
      '\t\n',
    ];
    for (const text of awkward) {
      const unit = owner.unit(task(`a${text}b`), { clientId: `c${text}`, clientTxId: text });
      const head = await engines.head();
      const first = applied(await engines.send(unit));
      assert.equal(first.replayed, false);
      const [entry] = await engines.entries(head);
      assert.equal(entry?.clientId, unit.clientId);
      assert.equal(entry.clientTxId, text);
      assert.equal(entry.record['title'], first.mutations[0]?.record['title']);
      const again = applied(await engines.send(unit));
      assert.equal(again.replayed, true, `${JSON.stringify(text)} was found again`);
      assert.equal(again.lastId, first.lastId);
    }
  });

  it('find their rows by an index, however they were planned', async () => {
    const project = only(
      await owner.try('INSERT', 'Project', randomUUID(), { workspaceId: workspace, key: 'P', name: 'P' }),
    );
    const label = only(
      await owner.try('INSERT', 'Label', randomUUID(), { workspaceId: workspace, name: 'L', color: '#aabbcc' }),
    );
    const one = task('One');
    await engines.send(
      owner.unit({ ...one, payload: { ...one.payload, projectId: project.modelId, labelIds: [label.modelId] } }),
    );
    await owner.try('INSERT', 'Comment', randomUUID(), { workspaceId: workspace, taskId: one.modelId, body: 'C' });
    await owner.try('UPDATE', 'Task', one.modelId, { title: 'Two', assigneeId: owner.id });
    await owner.try('UPDATE', 'Project', project.modelId, { isPrivate: true });
    await owner.try('ARCHIVE', 'Task', one.modelId, {});
    await owner.try('DELETE', 'Label', label.modelId, {});
    await owner.try('DELETE', 'Project', project.modelId, {});
    await engines.join(workspace, 'member');

    const plans = await plansOf(engines);
    assert.ok(plans.length > 20, `${plans.length} statements were seen`);
    for (const { statement, plan } of plans) {
      // One row; nothing to find.
      const scans = plan.filter((line) => line.includes('Seq Scan') && !line.includes('on log_state'));
      assert.deepEqual(scans, [], statement);
    }
  });
});

/** The prepared statements of the engine's connections, with their plans. */
async function plansOf({ pool }: TestEngines): Promise<{ statement: string; plan: string[] }[]> {
  const clients: PoolClient[] = [];
  const found: { statement: string; plan: string[] }[] = [];
  try {
    for (let index = pool.totalCount; index > 0; index -= 1) clients.push(await pool.connect());
    for (const client of clients) {
      const { rows } = await client.query<{ name: string; statement: string; count: number }>(
        `select name, statement, cardinality(parameter_types) as count from pg_prepared_statements`,
      );
      for (const { name, statement, count } of rows) {
        const nulls = count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(',')})`;
        const explained = await client.query<{ 'QUERY PLAN': string }>(`explain execute ${name}${nulls}`);
        found.push({ statement, plan: explained.rows.map((row) => row['QUERY PLAN']) });
      }
    }
  } finally {
    for (const client of clients) client.release();
  }
  return found;
}
