import { connectTo } from '@wts/testkit';
import type { SyncTransaction } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import type { CheckedSystem } from '../checked-system.ts';
import { send } from './writers.ts';

const RETRY_MS = 50;
const FIRST = '2200-01-01';

/**
 * Completes the newest task of a daily series every so often, and sends each change until it is answered. Returns what the series has
 * that it should not have: each completion makes one task, for the next day.
 */
export async function completeUntil(testSystem: CheckedSystem, stop: AbortSignal, everyMs: number): Promise<string[]> {
  const { baseUrl, apiKey, workspaceId } = testSystem;
  const clientId = randomUUID();
  const series = randomUUID();
  const change = async (transaction: Pick<SyncTransaction, 'modelId' | 'action' | 'payload'>): Promise<void> => {
    const sent = { ...transaction, clientTxId: randomUUID(), clientId, modelName: 'Task' };
    for (;;) {
      const answers = await send(baseUrl, apiKey, [sent]);
      const refusal = answers?.find(({ success }) => !success);
      if (refusal) throw new Error(`the service refused a repeating task: ${refusal.error}`);
      if (answers) return;
      await pause(RETRY_MS);
    }
  };
  const task = { workspaceId, title: 'Repeats', startDate: FIRST, repeatRule: 'FREQ=DAILY' };
  await change({ modelId: series, action: 'INSERT', payload: task });
  await using client = await connectTo(testSystem.database.url);
  let completions = 0;
  while (!stop.aborted) {
    const newest = (await tasksOf(client, series)).find(({ repeats }) => repeats);
    if (!newest) return [`after ${completions} completions, no task has the rule of the series`];
    await change({ modelId: newest.id, action: 'UPDATE', payload: { completedAt: new Date().toISOString() } });
    completions += 1;
    await pause(everyMs);
  }
  const expected = Array.from({ length: completions + 1 }, (_, days) => `${dayAfter(days)} ${days < completions}`);
  const made = (await tasksOf(client, series)).map(({ day, done }) => `${day} ${done}`);
  return made.join() === expected.join() ? [] : [`a series has ${made.join(', ')}, not ${expected.join(', ')}`];
}

interface TaskOfSeries {
  readonly id: string;
  readonly day: string;
  readonly done: boolean;
  readonly repeats: boolean;
}

async function tasksOf(client: Client, series: string): Promise<readonly TaskOfSeries[]> {
  const { rows } = await client.query<TaskOfSeries>(
    `select id, start_date::text as day, completed_at is not null as done, repeat_rule is not null as repeats
     from sync.tasks where repeat_template_id = $1 order by start_date`,
    [series],
  );
  return rows;
}

function dayAfter(days: number): string {
  return Temporal.PlainDate.from(FIRST).add({ days }).toString();
}
