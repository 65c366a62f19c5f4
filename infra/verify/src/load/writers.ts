import type { MutateReply, SyncTransaction } from '@wts/contracts';
import type { TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { isOutage } from './outage.ts';

export interface Sent {
  readonly clientTxId: string;
  readonly modelId: string;
}

/** What writers did: what was acknowledged, and how often they had to try again. */
export interface Written {
  readonly acknowledged: ReadonlyMap<string, { readonly modelId: string; readonly syncId: string }>;
  readonly retries: number;
}

const RETRY_MS = 50;
const TRIES_MS_MAX = 60_000;

export interface Acknowledgement {
  readonly clientTxId: string;
  readonly modelId: string;
  readonly syncId: string;
}

interface Writing {
  /** Each device makes one change in so many milliseconds; 0 for one after the other. */
  readonly everyMs?: () => number;
  /** Where they write; the first door when nothing is said. */
  readonly door?: () => string;
  /** Each change is sent up to so many times at once, as by clients that lose patience. Every answer must be the same. */
  readonly copiesMax?: number;
  readonly onAcknowledged: (answer: Acknowledgement) => void;
}

/** What writers did, kept whole: for storms of seconds. */
export async function writeUntil(testSystem: TestSystem, count: number, stop: AbortSignal): Promise<Written> {
  const acknowledged = new Map<string, { modelId: string; syncId: string }>();
  const { retries } = await keepWriting(testSystem, count, stop, {
    onAcknowledged: ({ clientTxId, ...answer }) => acknowledged.set(clientTxId, answer),
  });
  return { acknowledged, retries };
}

/**
 * `count` devices that make one task after the other until stopped, at a pace of one every `everyMs`. A change whose answer was an outage is sent again, as
 * the same transaction, until it is answered: that is what makes "acknowledged and lost" and "applied twice" visible.
 */
export async function keepWriting(
  testSystem: TestSystem,
  count: number,
  stop: AbortSignal,
  { everyMs = () => 0, door = () => testSystem.baseUrl, copiesMax = 1, onAcknowledged }: Writing,
): Promise<{ retries: number }> {
  let retries = 0;
  const device = async (): Promise<void> => {
    const clientId = randomUUID();
    let dueMs = performance.now() + Math.random() * everyMs();
    while (!stop.aborted) {
      const transaction = { clientTxId: randomUUID(), clientId, modelId: randomUUID() };
      const startedMs = performance.now();
      for (;;) {
        const copies = 1 + Math.floor(Math.random() * copiesMax);
        const results = await Promise.all(
          Array.from({ length: copies }, () => send(door(), testSystem.apiKey, [taskOf(testSystem, transaction)])),
        );
        const answers = results.flatMap((result) => result ?? []);
        for (const { success, syncId = '', error } of answers) {
          if (!success) throw new Error(`refused: ${error}`);
          onAcknowledged({ clientTxId: transaction.clientTxId, modelId: transaction.modelId, syncId });
        }
        if (answers.length > 0) break;
        if (performance.now() - startedMs > TRIES_MS_MAX) throw new Error('a change was not taken within a minute');
        retries += 1;
        await pause(RETRY_MS);
      }
      // What could not be written in time is not made up for: after an outage the pace is what it was before.
      const pace = everyMs();
      dueMs = Math.max(dueMs + pace, performance.now());
      if (pace > 0) await pause(Math.max(0, dueMs - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: count }, device));
  return { retries };
}

function taskOf(
  { workspaceId }: TestSystem,
  { clientTxId, clientId, modelId }: Sent & { clientId: string },
): SyncTransaction {
  const payload = { workspaceId, title: `Task ${modelId}` };
  return { clientTxId, clientId, modelName: 'Task', modelId, action: 'INSERT', payload };
}

/** The result of each transaction. Null when the system could not answer: nothing is known of them. */
export async function send(
  door: string,
  token: string,
  transactions: readonly SyncTransaction[],
): Promise<MutateReply['results'] | null> {
  try {
    const { statusCode, body } = await request(`${door}/sync/mutate`, {
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
