import { eventually, type TestSystem } from '@wts/testkit';
import { Client } from 'pg';
import { auditCopy, auditListeners, loadCopy, type Copy } from '../audit-live.ts';
import { auditLog } from '../audit-log.ts';
import { auditStream } from '../audit-stream.ts';
import { connectToBroker } from '../broker.ts';
import type { Finding } from '../finding.ts';
import type { Listener } from '../listeners.ts';
import type { Written } from './writers.ts';

/** From where listeners listen, and what a client held then. */
export interface Beginning {
  readonly after: string;
  readonly copy: Copy;
}

/** Where the log is now, or an earlier place. */
export async function begin({ baseUrl, apiKey }: TestSystem, after?: string): Promise<Beginning> {
  const copy = await loadCopy({ baseUrl, token: apiKey });
  return { after: after ?? copy.at, copy };
}

/** Everything the checker can say of a system after its storm: an empty list is the promise kept. */
export async function checkSystem(
  testSystem: TestSystem,
  listeners: readonly Listener[],
  { after, copy }: Beginning,
  written: Written,
): Promise<string[]> {
  const client = new Client({ connectionString: testSystem.database.url });
  await client.connect();
  const broker = await connectToBroker(testSystem.nats.url);
  try {
    const { head } = await auditLog(client);
    await eventually(() => listeners.every(({ at }) => at() >= head), { deadlineMs: 30_000 });
    const groups = [testSystem.userId, testSystem.workspaceId];
    const findings: Finding[] = [
      ...(await auditLog(client)).findings,
      ...(await auditListeners(client, listeners, groups, BigInt(after), head)),
      ...(await auditStream(broker, client)).findings,
      ...(await auditCopy(client, { baseUrl: testSystem.baseUrl, token: testSystem.apiKey }, copy)).findings,
    ];
    return [...findings.map(({ promise, seen }) => `${promise}: ${seen}`), ...(await lostOrDoubled(client, written))];
  } finally {
    await broker.close();
    await client.end();
  }
}

/** Each acknowledged change stands in the log exactly once, at the place that was answered. */
async function lostOrDoubled(client: Client, { acknowledged }: Written): Promise<string[]> {
  const { rows } = await client.query<{ client_tx_id: string; places: string[] }>(
    `select client_tx_id, array_agg(sync_id::text order by sync_id) as places from sync.sync_actions where client_tx_id = any($1::text[]) group by client_tx_id`,
    [[...acknowledged.keys()]],
  );
  const places = new Map(rows.map((row) => [row.client_tx_id, row.places]));
  return [...acknowledged].flatMap(([clientTxId, { syncId }]) => {
    const at = places.get(clientTxId);
    if (at === undefined) return [`acknowledged and lost: ${clientTxId}`];
    return at.length === 1 && at[0] === syncId
      ? []
      : [`applied at ${at.join(', ')}, answered ${syncId}: ${clientTxId}`];
  });
}
