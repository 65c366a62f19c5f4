import type { MutateReply } from '@wts/contracts';
import type { World } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';

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

/** What writers did, kept whole: for storms of seconds. */
export async function writeUntil(world: World, count: number, stop: AbortSignal): Promise<Written> {
  const acknowledged = new Map<string, { modelId: string; syncId: string }>();
  const { retries } = await keepWriting(world, count, stop, {
    onAcknowledged: ({ clientTxId, ...answer }) => acknowledged.set(clientTxId, answer),
  });
  return { acknowledged, retries };
}

/**
 * `count` devices that make one task after the other until stopped. A change whose answer was an outage is sent again, as
 * the same transaction, until it is answered: that is what makes "acknowledged and lost" and "applied twice" visible.
 */
export async function keepWriting(
  world: World,
  count: number,
  stop: AbortSignal,
  { restMs = 0, onAcknowledged }: { restMs?: number; onAcknowledged: (answer: Acknowledgement) => void },
): Promise<{ retries: number }> {
  let retries = 0;
  const device = async (): Promise<void> => {
    const clientId = randomUUID();
    while (!stop.aborted) {
      const transaction = { clientTxId: randomUUID(), clientId, modelId: randomUUID() };
      const startedMs = performance.now();
      for (;;) {
        const reply = await sendTask(world, transaction);
        const result = reply?.results[0];
        if (result?.success === true) {
          const { clientTxId, modelId } = transaction;
          onAcknowledged({ clientTxId, modelId, syncId: result.syncId ?? '' });
          break;
        }
        if (result !== undefined) throw new Error(`refused: ${result.error}`);
        if (performance.now() - startedMs > TRIES_MS_MAX) throw new Error('a change was not taken within a minute');
        retries += 1;
        await pause(RETRY_MS);
      }
      if (restMs > 0) await pause(restMs * (0.5 + Math.random()));
    }
  };
  await Promise.all(Array.from({ length: count }, device));
  return { retries };
}

/** Null when the system could not answer: nothing is known of the change. */
async function sendTask(
  world: World,
  { clientTxId, clientId, modelId }: Sent & { clientId: string },
): Promise<MutateReply | null> {
  const payload = { workspaceId: world.workspaceId, title: `Task ${modelId}` };
  const transaction = { clientTxId, clientId, modelName: 'Task', modelId, action: 'INSERT', payload };
  try {
    const { statusCode, body } = await request(`${world.baseUrl}/sync/mutate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ batchId: randomUUID(), transactions: [transaction] }),
      headersTimeout: 15_000,
      bodyTimeout: 15_000,
    });
    if (statusCode === 200) return (await body.json()) as MutateReply;
    const text = await body.text();
    if (statusCode !== 503) throw new Error(`answered ${statusCode}: ${text}`);
    return null;
  } catch (error) {
    if (isOutage(error)) return null;
    throw error;
  }
}

function isOutage(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? '';
  return code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EPIPE' || code.startsWith('UND_ERR');
}
