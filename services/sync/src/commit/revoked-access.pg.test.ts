import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '@wts/testkit';
import { Client } from 'pg';
import { TestEngines, applied, change, refused, type TestPerson } from '../../test/test-engines.ts';
import type { UnitOutcome } from '../decision/unit.ts';

/*
 * A person loses access while a change of theirs is running: the change was found to be allowed, and waits before its entries are
 * in the log. After the removal has its position in the log, no change of the person may follow.
 */
describe('a change that is running when its caller loses access', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;
  let blocker: Client;

  before(async () => {
    ({ engines, owner, workspace } = await TestEngines.withOwner('removal', 3));
    blocker = new Client({ connectionString: engines.database.url });
    await blocker.connect();
  });
  after(async () => {
    await blocker.end();
    await engines[Symbol.asyncDispose]();
  });

  /** Blocks writers of labels until `meanwhile` is done; transactions that only read and lock rows continue. */
  async function overtaken(under: () => Promise<UnitOutcome>, meanwhile: () => Promise<unknown>): Promise<UnitOutcome> {
    await blocker.query('begin; lock table sync.labels, sync.comments in share mode');
    const outcome = under();
    try {
      await eventually(async () => {
        const { rows } = await blocker.query(`select 1 from pg_locks where not granted and relation in
          ('sync.labels'::regclass, 'sync.comments'::regclass)`);
        return rows.length > 0;
      });
      await meanwhile();
    } finally {
      await blocker.query('rollback');
    }
    return outcome;
  }

  const label = (by: TestPerson, clientTxId: string = randomUUID()): Promise<UnitOutcome> =>
    engines.send(
      by.unit(change('INSERT', 'Label', randomUUID(), { workspaceId: workspace, name: 'Late' }), { clientTxId }),
      engines.all[0],
    );

  it('is refused when they are removed from the workspace meanwhile [never.shown-outside, workspaces.members.cut-off]', async () => {
    const leaver = await engines.join(workspace, 'member');
    const membership = await engines.membershipOf(workspace, leaver);
    let removedAt = 0n;
    const outcome = await overtaken(
      () => label(leaver),
      async () => {
        const unit = owner.unit(change('DELETE', 'WorkspaceMember', membership));
        removedAt = applied(await engines.send(unit, engines.all[1])).lastId;
      },
    );
    assert.equal(refused(outcome).code, 'not_found');
    const after = await engines.entries(removedAt);
    assert.ok(after.every(({ actorId }) => actorId !== leaver.id));
  });

  it('is refused when they become a guest meanwhile', async () => {
    const member = await engines.join(workspace, 'member');
    const membership = await engines.membershipOf(workspace, member);
    const outcome = await overtaken(
      () => label(member),
      async () => {
        const unit = owner.unit(change('UPDATE', 'WorkspaceMember', membership, { role: 'guest' }));
        applied(await engines.send(unit, engines.all[1]));
      },
    );
    assert.equal(refused(outcome).code, 'forbidden');
  });

  it('is refused when they are removed from its private project [sync.private-project.walls]', async () => {
    const member = await engines.join(workspace, 'member');
    const project = await owner.make('Project', { workspaceId: workspace, key: 'P', name: 'P', isPrivate: true });
    const inside = await owner.make('ProjectMember', { projectId: project, userId: member.id });
    const taskId = await owner.make('Task', { workspaceId: workspace, title: 'T', projectId: project });
    const said = member.unit(
      change('INSERT', 'Comment', randomUUID(), { workspaceId: workspace, taskId, body: 'Late' }),
    );
    const outcome = await overtaken(
      () => engines.send(said, engines.all[0]),
      async () => applied(await engines.send(owner.unit(change('DELETE', 'ProjectMember', inside)), engines.all[1])),
    );
    assert.equal(refused(outcome).code, 'not_found');
  });

  it('is committed when they only joined another workspace, with their present role', async () => {
    const member = await engines.join(workspace, 'member');
    const outcome = await overtaken(
      () => label(member),
      () => engines.workspace(member),
    );
    applied(outcome);
  });

  it('does not affect the other units of its batch', async () => {
    const leaver = await engines.join(workspace, 'member');
    const membership = await engines.membershipOf(workspace, leaver);
    const make = (by: TestPerson) =>
      by.unit(change('INSERT', 'Label', randomUUID(), { workspaceId: workspace, name: 'Together' }));
    const units = [make(owner), make(leaver), make(owner)];
    let outcomes: UnitOutcome[] = [];
    await overtaken(
      async () => {
        outcomes = await engines.all[0]!.commit(units);
        return outcomes[0]!;
      },
      async () =>
        applied(await engines.send(owner.unit(change('DELETE', 'WorkspaceMember', membership)), engines.all[1])),
    );
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [true, false, true],
    );
  });
});
