import { HEADERS, type ServiceName } from '@wts/contracts';
import type { TestSystem } from '@wts/testkit';
import { cloneTasks } from './seed.ts';
import { peopleOf } from './people.ts';
import { growLog, type LargeLog } from './large-log.ts';
import { mutate, openClients, type Writer } from './traffic.ts';

/** A process between a client and PostgreSQL. */
export interface TargetProcess {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
}

/** A system to measure: its public address and the table of its log. */
export interface Target extends Writer {
  readonly name: string;
  readonly baseUrl: string;
  readonly userId: string;

  readonly processes: () => readonly TargetProcess[];
  readonly log: { readonly table: string; readonly positionColumn: string };
  /** Loads tasks like those of clients directly into the database. */
  readonly seedTasks: (count: number) => Promise<void>;
  /** Fills the log with entries of many groups. */
  readonly growLog: (entries: number, statisticsMs: number) => Promise<LargeLog>;
  /** Creates people with a workspace each. The peer knows one person only. */
  readonly people?: (count: number) => Promise<readonly Writer[]>;
}

export function targetOf(testSystem: TestSystem): Target {
  const { baseUrl, apiKey, userId, workspaceId } = testSystem;
  const target: Target = {
    name: 'ours',
    baseUrl,
    apiKey,
    userId,
    workspaceId,
    processes: () =>
      ['gateway', 'sync'].map((name) => {
        const { pid, log } = testSystem.service(name);
        if (pid === null) throw new Error(`${name} has exited; its log is ${log}`);
        return { name, pid, log };
      }),
    log: { table: 'sync.sync_actions', positionColumn: 'sync_id' },
    seedTasks: async (count) =>
      cloneTasks(testSystem.database.url, {
        table: 'sync.tasks',
        modelId: await createTask(target),
        count,
        counter: 'sync.task_counters',
      }),
    growLog: (entries, statisticsMs) => growLog(testSystem, target, { entries, statisticsMs }),
    people: (count) => peopleOf(testSystem, count),
  };
  return target;
}

/** Creates a task through the API and resolves to its id. */
export async function createTask(target: Target): Promise<string> {
  await using pool = openClients(target.baseUrl, 1);
  const { modelIds } = await mutate(pool, target, 1);
  return modelIds[0] ?? '';
}

/** Makes the headers of a request as the gateway sends it to a service, of someone who reads. They are valid for a minute. */
export function headersOfGateway(
  testSystem: TestSystem,
  service: ServiceName,
  userId = testSystem.userId,
): () => Record<string, string> {
  const mint = testSystem.minterFor('gateway', service);
  return () => ({
    [HEADERS.principal]: mint({ userId, scopes: ['read'], credential: { kind: 'api_key', id: 'bench' } }),
  });
}
