import { connectTo, eventually } from '@wts/testkit';
import type { Client } from 'pg';
import type { CheckedSystem } from '../checked-system.ts';
import { auditCopy, auditFollowers, loadCopy, type ClientCopy } from '../audit-live.ts';
import { auditLog } from '../audit-log.ts';
import { auditStream } from '../audit-stream.ts';
import { connectToBroker } from '../broker.ts';
import type { AuditFinding } from '../finding.ts';
import type { Follower } from '../followers.ts';
import type { Written } from './writers.ts';

/** The head of the log, from which followers follow, and the copy of a client at that time. */
export interface StartState {
  readonly after: string;
  readonly copy: ClientCopy;
}

export async function readStartState({ baseUrl, apiKey }: CheckedSystem): Promise<StartState> {
  const copy = await loadCopy({ baseUrl, token: apiKey });
  return { after: copy.position, copy };
}

/** Runs every audit on a system. An empty list means that all guarantees hold. */
export async function checkSystem(
  testSystem: CheckedSystem,
  followers: readonly Follower[],
  { after, copy }: StartState,
  written: Written,
): Promise<string[]> {
  await using client = await connectTo(testSystem.database.url);
  await using broker = await connectToBroker(testSystem.nats.url);
  const { head, findings: ofLog } = await auditLog(client);
  await eventually(() => followers.every(({ cursor }) => cursor() >= head), { deadlineMs: 30_000 });
  const groups = [testSystem.userId, testSystem.workspaceId];
  const findings: AuditFinding[] = [
    ...ofLog,
    ...(await auditFollowers(client, followers, { groups, after: BigInt(after), upTo: head })),
    ...(await auditStream(broker, client)).findings,
    ...(await auditCopy(client, { baseUrl: testSystem.baseUrl, token: testSystem.apiKey }, copy)).findings,
  ];
  return [...findings.map(({ guarantee, seen }) => `${guarantee}: ${seen}`), ...(await lostOrDoubled(client, written))];
}

/** Each acknowledged change is in the log exactly once, at the acknowledged position. */
export async function lostOrDoubled(client: Client, { acknowledged }: Written): Promise<string[]> {
  const { rows } = await client.query<{ client_tx_id: string; positions: string[] }>(
    `select client_tx_id, array_agg(sync_id::text order by sync_id) as positions from sync.sync_actions where client_tx_id = any($1::text[]) group by client_tx_id`,
    [[...acknowledged.keys()]],
  );
  const positions = new Map(rows.map((row) => [row.client_tx_id, row.positions]));
  return [...acknowledged].flatMap(([clientTxId, { syncId }]) => {
    const found = positions.get(clientTxId);
    if (found === undefined) return [`acknowledged and lost: ${clientTxId}`];
    return found.length === 1 && found[0] === syncId
      ? []
      : [`applied at ${found.join(', ')}, acknowledged at ${syncId}: ${clientTxId}`];
  });
}
