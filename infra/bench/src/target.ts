import type { TestSystem } from '@wts/testkit';
import { cloneTasks } from './seed.ts';
import { mutate, openClients, type Writer } from './traffic.ts';

/** A process that an answer or a socket passes through. */
export interface Part {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
}

/** A system under measurement, as its callers see it, and where it keeps its log. */
export interface Target extends Writer {
  readonly name: string;
  readonly baseUrl: string;
  readonly userId: string;
  /** All its processes between a client and PostgreSQL. */
  readonly parts: () => readonly Part[];
  readonly log: { readonly table: string; readonly place: string };
  /** Tasks like those that clients make, but loaded past the target. */
  readonly seedTasks: (count: number) => Promise<void>;
}

export function targetOf(testSystem: TestSystem): Target {
  const { baseUrl, apiKey, userId, workspaceId } = testSystem;
  const target: Target = {
    name: 'ours',
    baseUrl,
    apiKey,
    userId,
    workspaceId,
    parts: () =>
      ['gateway', 'sync'].map((name) => {
        const { pid, log } = testSystem.service(name);
        if (pid === null) throw new Error(`${name} has ended; its log: ${log}`);
        return { name, pid, log };
      }),
    log: { table: 'sync.sync_actions', place: 'sync_id' },
    seedTasks: async (count) =>
      cloneTasks(testSystem.database.url, {
        table: 'sync.tasks',
        modelId: await oneTask(target),
        count,
        counter: 'sync.task_counters',
      }),
  };
  return target;
}

/** The id of a task that came the usual way. */
export async function oneTask(target: Target): Promise<string> {
  const pool = openClients(target.baseUrl, 1);
  try {
    const { modelIds } = await mutate(pool, target, 1);
    return modelIds[0] ?? '';
  } finally {
    await pool.close();
  }
}
