import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '@wts/testkit';
import { Client } from 'pg';
import { Stage, applied, change, refused } from '../../test/stage.ts';
import type { Someone } from '../../test/stage.ts';
import type { UnitOutcome } from './unit.ts';

/*
 * Somebody is put out while a change of theirs is under way: it was found to be allowed, and waits for something before it
 * is in the log. Once the removal has its place in the log, nothing of theirs may come after it.
 */
describe('a change that is under way when its maker loses the right to it', function () {
  this.timeout(30_000);
  let stage: Stage;
  let owner: Someone;
  let workspace: string;
  let blocker: Client;

  before(async () => {
    stage = await Stage.open('removal', 3);
    owner = await stage.person();
    workspace = await stage.workspace(owner);
    blocker = new Client({ connectionString: stage.database.url });
    await blocker.connect();
  });
  after(async () => {
    await blocker.end();
    await stage[Symbol.asyncDispose]();
  });

  const membershipOf = async (table: string, { id }: Someone): Promise<string> =>
    (await stage.pool.query<{ id: string }>(`select id from sync.${table} where user_id = $1`, [id])).rows[0]!.id;

  /** Holds up whoever writes labels, until `meanwhile` is done; those who only read and lock rows go on. */
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

  const label = (by: Someone, clientTxId: string = randomUUID()): Promise<UnitOutcome> =>
    stage.send(
      by.unit(change('INSERT', 'Label', randomUUID(), { workspaceId: workspace, name: 'Late' }), { clientTxId }),
      stage.engines[0],
    );

  it('is refused when they were removed from the workspace meanwhile [never.shown-outside, workspaces.members.cut-off]', async () => {
    const leaver = await stage.join(workspace, 'member');
    const membership = await membershipOf('workspace_members', leaver);
    let removedAt = 0n;
    const outcome = await overtaken(
      () => label(leaver),
      async () => {
        const unit = owner.unit(change('DELETE', 'WorkspaceMember', membership));
        removedAt = applied(await stage.send(unit, stage.engines[1])).lastId;
      },
    );
    assert.equal(refused(outcome).code, 'not_found');
    const after = await stage.entries(removedAt);
    assert.ok(after.every(({ actorId }) => actorId !== leaver.id));
  });

  it('is refused when they became a guest meanwhile', async () => {
    const member = await stage.join(workspace, 'member');
    const membership = await membershipOf('workspace_members', member);
    const outcome = await overtaken(
      () => label(member),
      async () => {
        const unit = owner.unit(change('UPDATE', 'WorkspaceMember', membership, { role: 'guest' }));
        applied(await stage.send(unit, stage.engines[1]));
      },
    );
    assert.equal(refused(outcome).code, 'forbidden');
  });

  it('is refused when they were put out of the private project it is in [sync.private-project.walls]', async () => {
    const member = await stage.join(workspace, 'member');
    const project = await owner.make('Project', { workspaceId: workspace, key: 'P', name: 'P', isPrivate: true });
    const inside = await owner.make('ProjectMember', { projectId: project, userId: member.id });
    const taskId = await owner.make('Task', { workspaceId: workspace, title: 'T', projectId: project });
    const said = member.unit(
      change('INSERT', 'Comment', randomUUID(), { workspaceId: workspace, taskId, body: 'Late' }),
    );
    const outcome = await overtaken(
      () => stage.send(said, stage.engines[0]),
      async () => applied(await stage.send(owner.unit(change('DELETE', 'ProjectMember', inside)), stage.engines[1])),
    );
    assert.equal(refused(outcome).code, 'not_found');
  });

  it('goes on when they only came into another workspace, and is decided by what they are now', async () => {
    const member = await stage.join(workspace, 'member');
    const outcome = await overtaken(
      () => label(member),
      () => stage.workspace(member),
    );
    applied(outcome);
  });

  it('harms no neighbor in its group', async () => {
    const leaver = await stage.join(workspace, 'member');
    const membership = await membershipOf('workspace_members', leaver);
    const make = (by: Someone) =>
      by.unit(change('INSERT', 'Label', randomUUID(), { workspaceId: workspace, name: 'Together' }));
    const units = [make(owner), make(leaver), make(owner)];
    let outcomes: UnitOutcome[] = [];
    await overtaken(
      async () => {
        outcomes = await stage.engines[0]!.commit(units);
        return outcomes[0]!;
      },
      async () =>
        applied(await stage.send(owner.unit(change('DELETE', 'WorkspaceMember', membership)), stage.engines[1])),
    );
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [true, false, true],
    );
  });
});
