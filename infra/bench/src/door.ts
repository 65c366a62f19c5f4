import type { World } from '@wts/testkit';
import { cloneTasks } from './seed.ts';
import { mutate, openClients, type Writer } from './traffic.ts';

/** A process that an answer or a socket passes through. */
export interface Part {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
}

/** A system under measurement, as its callers see it, and where it keeps its log. */
export interface Door extends Writer {
  readonly name: string;
  readonly baseUrl: string;
  readonly userId: string;
  /** All its processes between a client and PostgreSQL. */
  readonly parts: () => readonly Part[];
  readonly log: { readonly table: string; readonly place: string };
  /** Tasks like those that clients make, but loaded past the door. */
  readonly seedTasks: (count: number) => Promise<void>;
}

export function doorOf(world: World): Door {
  const { baseUrl, apiKey, userId, workspaceId } = world;
  const door: Door = {
    name: 'ours',
    baseUrl,
    apiKey,
    userId,
    workspaceId,
    parts: () =>
      ['gateway', 'sync'].map((name) => {
        const { pid, log } = world.service(name);
        if (pid === null) throw new Error(`${name} has ended; its log: ${log}`);
        return { name, pid, log };
      }),
    log: { table: 'sync.sync_actions', place: 'sync_id' },
    seedTasks: async (count) =>
      cloneTasks(world.database.url, {
        table: 'sync.tasks',
        modelId: await oneTask(door),
        count,
        counter: 'sync.task_counters',
      }),
  };
  return door;
}

/** The id of a task that came the usual way. */
export async function oneTask(door: Door): Promise<string> {
  const pool = openClients(door.baseUrl, 1);
  try {
    const { modelIds } = await mutate(pool, door, 1);
    return modelIds[0] ?? '';
  } finally {
    await pool.close();
  }
}
