import type { MutateReply, SyncTransaction } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import type { CheckedSystem } from '../checked-system.ts';
import { isOutage } from './outage.ts';

/** The acknowledged changes of writers, and how often they had to retry. */
export interface Written {
  readonly acknowledged: ReadonlyMap<string, Omit<Acknowledgement, 'clientTxId'>>;
  readonly retries: number;
}

const RETRY_MS = 50;
const RETRYING_MS_MAX = 60_000;

export interface Acknowledgement {
  readonly clientTxId: string;
  readonly modelId: string;
  readonly syncId: string;
}

interface Writing {
  /** Each writer makes one change in so many milliseconds; 0: without pause. */
  readonly everyMs?: () => number;
  /** Where they write. Default: the first gateway. */
  readonly baseUrl?: () => string;
  /** Each change is sent up to so many times in parallel, as impatient clients do. */
  readonly copiesMax?: number;
  readonly onAcknowledged: (acknowledged: Acknowledgement) => void;
  /** A change was not answered, or with 503, and is sent again. */
  readonly onRetry?: () => void;
}

/** Writes until stopped, each writer every `everyMs`, and keeps every acknowledgement: for runs of seconds. */
export async function writeUntil(
  testSystem: CheckedSystem,
  count: number,
  everyMs: number,
  stop: AbortSignal,
): Promise<Written> {
  const acknowledged = new Map<string, Omit<Acknowledgement, 'clientTxId'>>();
  const { retries } = await keepWriting(testSystem, count, stop, {
    everyMs: () => everyMs,
    onAcknowledged: ({ clientTxId, ...answer }) => acknowledged.set(clientTxId, answer),
  });
  return { acknowledged, retries };
}

/**
 * `count` writers create one task after another until stopped. While the system is unavailable a writer sends the same
 * transaction again, so that an audit can find changes that were acknowledged and lost, or applied twice.
 */
export async function keepWriting(
  testSystem: CheckedSystem,
  count: number,
  stop: AbortSignal,
  { everyMs = () => 0, baseUrl = () => testSystem.baseUrl, copiesMax = 1, onAcknowledged, onRetry = () => {} }: Writing,
): Promise<{ retries: number }> {
  let retries = 0;
  const writer = async (): Promise<void> => {
    const clientId = randomUUID();
    let dueMs = performance.now() + Math.random() * everyMs();
    while (!stop.aborted) {
      const modelId = randomUUID();
      const task = { workspaceId: testSystem.workspaceId, title: `Task ${modelId}` };
      const transaction = newTask(task, clientId, { modelId });
      const startedMs = performance.now();
      for (;;) {
        const copies = 1 + Math.floor(Math.random() * copiesMax);
        const results = await Promise.all(
          Array.from({ length: copies }, () => send(baseUrl(), testSystem.apiKey, [transaction])),
        );
        const answers = results.flatMap((result) => result ?? []);
        for (const { success, syncId = '', error } of answers) {
          if (!success) throw new Error(`the service refused a task: ${error}`);
          onAcknowledged({ clientTxId: transaction.clientTxId, modelId, syncId });
        }
        if (answers.length > 0) break;
        if (performance.now() - startedMs > RETRYING_MS_MAX)
          throw new Error('the service did not accept a task within a minute');
        retries += 1;
        onRetry();
        await pause(RETRY_MS);
      }
      // After an outage a writer continues at its pace and does not catch up.
      const pace = everyMs();
      dueMs = Math.max(dueMs + pace, performance.now());
      if (pace > 0) await pause(Math.max(0, dueMs - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: count }, writer));
  return { retries };
}

/** A change that inserts a task, of a new one unless its ids are given. */
export function newTask(
  { workspaceId, title }: { readonly workspaceId: string; readonly title: string },
  clientId: string,
  { clientTxId = randomUUID(), modelId = randomUUID() }: Partial<Omit<Acknowledgement, 'syncId'>> = {},
): SyncTransaction {
  return { clientTxId, clientId, modelName: 'Task', modelId, action: 'INSERT', payload: { workspaceId, title } };
}

/** Resolves to the result of each transaction; to null when the system is unavailable and the results are unknown. */
export async function send(
  baseUrl: string,
  token: string,
  transactions: readonly SyncTransaction[],
): Promise<MutateReply['results'] | null> {
  try {
    const { statusCode, body } = await request(`${baseUrl}/sync/mutate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ batchId: randomUUID(), transactions }),
      headersTimeout: 15_000,
      bodyTimeout: 15_000,
    });
    const text = await body.text();
    if (statusCode === 503) return null;
    const results = statusCode === 200 ? (JSON.parse(text) as MutateReply).results : [];
    if (results.length !== transactions.length) throw new Error(`answered ${statusCode}: ${text}`);
    return results;
  } catch (error) {
    if (isOutage(error)) return null;
    throw error;
  }
}
