import { randomUUID } from 'node:crypto';
import type { InternalMutation } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import { TestSyncService } from './test-sync-service.ts';
import { SYNC_LIMITS } from '../src/limits.ts';

describe('a running service', () => {
  it('completes the sweeps of its own deletions, and of a replica that died [sync.mutate.always]', async () => {
    await using sync = await TestSyncService.open('sweeping');
    const owner = await sync.person();
    const workspaceId = await sync.workspace(owner);
    const fill = async (tasksMin: number): Promise<string> => {
      const projectId = await sync.insert(
        'Project',
        { workspaceId, key: `K${randomUUID().slice(0, 8)}`, name: 'P' },
        owner,
      );
      for (let made = 0; made <= tasksMin; made += 100) {
        const tasks = Array.from({ length: 100 }, (): InternalMutation => {
          return {
            modelName: 'Task',
            modelId: randomUUID(),
            action: 'INSERT',
            payload: { workspaceId, projectId, title: 'T' },
          };
        });
        await sync.commit(tasks, owner);
      }
      return projectId;
    };
    const left = async (): Promise<number> =>
      (
        await sync.sql.query<{ n: number }>(
          `select (select count(*) from sync.tasks)::int + (select count(*) from sync.sweeps)::int as n`,
        )
      ).rows[0]!.n;
    const first = await fill(SYNC_LIMITS.cascadeRecordsMax);
    await sync.commit([{ modelName: 'Project', modelId: first, action: 'DELETE', payload: {} }], owner);
    await eventually(async () => (await left()) === 0);

    const second = await fill(0);
    await sync.restart(async () => {
      await sync.sql.query('delete from sync.projects where id = $1', [second]);
      await sync.sql.query(
        `insert into sync.sweeps (kind, model, root_id, workspace_id, actor_id, leased_until)
         values ('delete', 'Project', $1, $2, $3, clock_timestamp() + interval '300 ms')`,
        [second, workspaceId, owner],
      );
      return {};
    });
    await eventually(async () => (await left()) === 0);
  });
});
