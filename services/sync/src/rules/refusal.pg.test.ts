import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ACTIONS, ERRORS } from '@wts/contracts';
import { MODELS } from '@wts/models';
import fc from 'fast-check';
import { sharedWithOwner } from '../../test/shared-engines.ts';
import { type TestEngines, change, refused, type TestPerson } from '../../test/test-engines.ts';

/** Words that make a client repeat a request that it should drop, and traces of internals. */
const FORBIDDEN = /network|fetch|timeout|timed out|aborted|econnrefused/i;
const SQL =
  /select|insert into|update sync|sync\.|constraint|relation|column|violates|_key\b|_pkey|pg_|syntax|stack|at Object/i;
const MARK = 'zebra7f3a';

describe('a refusal [sync.mutate.results]', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;
  const known: Record<string, string> = {};

  before(async () => {
    ({ engines, owner, workspace } = await sharedWithOwner());
    known['Task'] = await owner.make('Task', { workspaceId: workspace, title: 'T' });
    known['Project'] = await owner.make('Project', { workspaceId: workspace, key: 'P', name: 'P' });
    known['Comment'] = await owner.make('Comment', { workspaceId: workspace, taskId: known['Task'], body: 'C' });
    known['User'] = owner.id;
    known['Workspace'] = workspace;
  });

  const id = fc
    .constantFrom('known', 'unknown', 'workspace')
    .map(
      (which) => (model: string) =>
        which === 'known' ? (known[model] ?? randomUUID()) : which === 'workspace' ? workspace : randomUUID(),
    );
  const hostile = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1e308,
      2 ** 53,
      0.5,
      '',
      ' ',
      MARK,
      `'; drop table sync.tasks; --${MARK}`,
      `\\'${MARK}`,
      '2026-02-30',
      '9999-99-99',
      '2026-11-21T25:00:00Z',
      -62_135_596_800_001,
      253_402_300_800_000,
      [],
      {},
      [null],
      [MARK],
      { toString: MARK },
      '\u0000',
      '\ud800',
      '𝒳'.repeat(600),
      'x'.repeat(60_000),
    ),
    fc.string({ unit: ANY_CHARACTER, maxLength: 50 }),
    fc.jsonValue(),
    fc.uuid(),
  );
  const names = [...new Set(MODELS.flatMap(({ fields }) => Object.keys(fields)))];
  const payload = fc
    .array(
      fc.tuple(
        fc.oneof(
          fc.constantFrom(...names),
          fc.constantFrom('id', 'createdAt', '__proto__', 'constructor', 'toString', `${MARK}"`, 'hasOwnProperty'),
        ),
        hostile,
      ),
      { maxLength: 6 },
    )
    // As JSON.parse makes it: every name is a property of the object itself.
    .map((pairs) => Object.fromEntries(pairs) as Record<string, unknown>);
  const withHome = fc
    .tuple(payload, fc.boolean())
    .map(([values, isHome]) => (isHome ? { ...values, workspaceId: workspace } : values));

  it('is the result of any bad payload: never an error, never a text that reveals internals', async () => {
    const attempt = fc.record({
      model: fc.constantFrom(...MODELS.map(({ name }) => name), 'Nothing', '__proto__'),
      action: fc.constantFrom(...ACTIONS),
      id,
      payload: withHome,
    });
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { minLength: 5, maxLength: 40 }), async (attempts) => {
        // Deleting the few records of the test would leave none for the next payload.
        const units = attempts
          .filter(({ action }) => action !== 'DELETE')
          .map((one) => owner.unit(change(one.action, one.model, one.id(one.model), one.payload)));
        for (const outcome of await engines.any.commit(units)) {
          if (outcome.ok) continue;
          refusals += 1;
          assert.ok(outcome.code in ERRORS && !['internal', 'unavailable'].includes(outcome.code));
          assert.ok(outcome.error.length > 0 && outcome.error.length <= 1000);
          assert.doesNotMatch(outcome.error, FORBIDDEN);
          assert.doesNotMatch(outcome.error, SQL);
          assert.ok(!outcome.error.includes(MARK) && /^[\x20-\x7e]+$/.test(outcome.error), outcome.error);
        }
      }),
      { numRuns: 30, seed: 20_261_121 },
    );
    assert.ok(refusals > 200);
  });

  it('writes nothing, for any text in the payload', async () => {
    const texts = [
      `'; drop table sync.tasks; --`,
      '\\',
      `\\'`,
      '$$',
      '{"a":1}',
      '%s $1 :name',
      'ünï 🚧 e\u0301',
      '\u2028\u2029\u0001',
      '</script>',
    ];
    for (const title of texts) {
      const taskId = await owner.make('Task', { workspaceId: workspace, title, description: title });
      assert.equal((await engines.stored('Task', taskId))?.record['title'], title);
      const sending = { clientId: `client ${title}`, clientTxId: title.repeat(2) };
      const unit = owner.unit(change('UPDATE', 'Task', taskId, { description: null }), sending);
      const first = await engines.send(unit);
      assert.deepEqual(
        await engines
          .send(owner.unit(change('UPDATE', 'Task', taskId, { description: null }), sending))
          .then((again) => again.ok && again.lastId),
        first.ok && first.lastId,
      );
    }
  });

  it('names the fields that conflict, in a stable text', async () => {
    const home = { workspaceId: workspace };
    const person = await engines.join(workspace, 'member');
    const team = await owner.make('Team', { ...home, key: 'T', name: 'T' });
    await owner.make('TeamMember', { teamId: team, userId: person.id });
    await owner.make('ProjectMember', { projectId: known['Project'], userId: person.id });
    const seen: string[] = [];
    for (const [model, values] of [
      ['Team', { ...home, key: 'T', name: 'Other' }],
      ['Project', { ...home, key: 'P', name: 'Other' }],
      ['TeamMember', { teamId: team, userId: person.id }],
      ['ProjectMember', { projectId: known['Project'], userId: person.id }],
    ] as const) {
      const { code, error } = refused(await owner.try('INSERT', model, randomUUID(), values));
      seen.push(`${code}: ${error}`);
    }
    assert.deepEqual(seen, [
      'conflict: Another Team has this key',
      'conflict: Another Project has this key',
      'conflict: Another TeamMember has this teamId and userId',
      'conflict: Another ProjectMember has this projectId and userId',
    ]);
    // Free in another workspace, and free again after the other is deleted.
    const other = await engines.workspace(owner);
    await owner.make('Project', { workspaceId: other, key: 'P', name: 'Same key' });
    await owner.delete('Team', team);
    await owner.make('Team', { ...home, key: 'T', name: 'Heir' });
  });

  it('reports a deleted record as not found, and the other units are committed [sync.mutate.deleted]', async () => {
    const [gone, stays] = [
      await owner.make('Task', { workspaceId: workspace, title: 'G' }),
      await owner.make('Task', { workspaceId: workspace, title: 'S' }),
    ];
    await owner.delete('Task', gone);
    const outcomes = await engines.any.commit(
      [stays, gone, stays].map((task) => owner.unit(change('UPDATE', 'Task', task, { title: 'New' }))),
    );
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [true, false, true],
    );
    assert.deepEqual(refused(outcomes[1]!), { ok: false, code: 'not_found', error: 'Task not found' });
  });
});
