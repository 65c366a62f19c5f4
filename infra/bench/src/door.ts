import type { World } from '@wts/testkit';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { mutate, openClients } from './traffic.ts';

/** A system under measurement, as its callers see it, and where it keeps its log. */
export interface Door {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly userId: string;
  readonly workspaceId: string;
  /** Of the process that holds the sockets. */
  readonly pid: () => number;
  readonly log: { readonly table: string; readonly place: string };
  readonly seedTasks: (count: number) => Promise<void>;
}

export function doorOf(world: World): Door {
  const { baseUrl, apiKey, userId, workspaceId } = world;
  return {
    name: 'ours',
    baseUrl,
    apiKey,
    userId,
    workspaceId,
    pid: () => world.service('sync').pid ?? 0,
    log: { table: 'sync.sync_actions', place: 'sync_id' },
    seedTasks: (count) => seedTasks(world, count),
  };
}

const BATCH = 100;

async function seedTasks(world: World, count: number): Promise<void> {
  const pool = openClients(world.baseUrl, 8);
  try {
    let left = Math.ceil(count / BATCH);
    const client = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await mutate(pool, world, BATCH);
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
  } finally {
    await pool.close();
  }
}

const run = promisify(execFile);

/** Megabytes in memory. */
export async function residentOf(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) / 1024;
}
