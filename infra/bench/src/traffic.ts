import { randomUUID } from 'node:crypto';
import type { MutateReply } from '@wts/contracts';
import { Pool, type Dispatcher } from 'undici';

/** A task of ordinary size. */
function newTask(workspaceId: string): { modelId: string; payload: Record<string, unknown> } {
  return {
    modelId: randomUUID(),
    payload: { workspaceId, title: 'Write down what the migration needs', description: 'x'.repeat(120), priority: 2 },
  };
}

/** One connection for each client, until the end of the block. */
export function openClients(origin: string, clients: number): Pool & AsyncDisposable {
  const pool = new Pool(origin, { connections: clients, pipelining: 1 });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.close() });
}

/** What sends requests: a pool, or one with an interceptor. */
export type Requester = Pick<Dispatcher, 'request'>;

export interface Writer {
  readonly apiKey: string;
  readonly workspaceId: string;
}

/** The reply of any sync server of this protocol, and the ids of the tasks in the order they were sent. */
export interface Mutated extends Pick<MutateReply, 'success' | 'lastSyncId' | 'results'> {
  readonly modelIds: readonly string[];
}

export async function mutate(
  pool: Requester,
  { apiKey, workspaceId }: Writer,
  count: number,
  more: Record<string, unknown> = {},
): Promise<Mutated> {
  const transactions = Array.from({ length: count }, () => {
    const { modelId, payload } = newTask(workspaceId);
    const common = { clientTxId: randomUUID(), clientId: 'bench', modelName: 'Task', action: 'INSERT' };
    return { ...common, modelId, payload: { ...payload, ...more } };
  });
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/sync/mutate',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ batchId: randomUUID(), transactions }),
  });
  const reply = (await body.json()) as Omit<Mutated, 'modelIds'>;
  if (statusCode !== 200 || !reply.success)
    throw new Error(`the server did not accept a change: ${statusCode} ${JSON.stringify(reply).slice(0, 300)}`);
  return { ...reply, modelIds: transactions.map(({ modelId }) => modelId) };
}
