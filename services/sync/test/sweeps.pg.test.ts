import { randomUUID } from 'node:crypto';
import type { InternalMutation } from '@wts/contracts';
import { LIMITS } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import { SnapshotStage } from './snapshot-stage.ts';

describe('a running service', function () {
  this.timeout(30_000);

  it('sweeps by itself what is left of a deletion, and what was left when another one died [sync.mutate.always]', async () => {
    await using stage = await SnapshotStage.open('sweeping');
    const owner = await stage.person();
    const workspaceId = await stage.workspace(owner);
    const fill = async (): Promise<string> => {
      const projectId = await stage.insert(
        'Project',
        { workspaceId, key: `K${randomUUID().slice(0, 8)}`, name: 'P' },
        owner,
      );
      for (let made = 0; made <= LIMITS.cascadeRecordsMax; made += 100) {
        const tasks = Array.from({ length: 100 }, (): InternalMutation => {
          return {
            modelName: 'Task',
            modelId: randomUUID(),
            action: 'INSERT',
            payload: { workspaceId, projectId, title: 'T' },
          };
        });
        await stage.commit(tasks, owner);
      }
      return projectId;
    };
    const left = async (): Promise<number> =>
      (
        await stage.sql.query<{ n: number }>(
          `select (select count(*) from sync.tasks)::int + (select count(*) from sync.sweeps)::int as n`,
        )
      ).rows[0]!.n;
    const first = await fill();
    await stage.commit([{ modelName: 'Project', modelId: first, action: 'DELETE', payload: {} }], owner);
    await eventually(async () => (await left()) === 0);

    const second = await fill();
    await stage.restart(async () => {
      await stage.sql.query('delete from sync.projects where id = $1', [second]);
      await stage.sql.query(
        `insert into sync.sweeps (kind, model, root_id, workspace_id, actor_id, leased_until)
         values ('delete', 'Project', $1, $2, $3, clock_timestamp() + interval '300 ms')`,
        [second, workspaceId, owner],
      );
      return {};
    });
    await eventually(async () => (await left()) === 0);
  });
});
