import type { SyncAction } from '@wts/contracts';
import { FINDINGS_MAX, type AuditFinding } from './finding.ts';

/** Compares what one follower received with the entries of its groups: nothing missing, nothing doubled, ascending. */
export function compareDeliveries(
  name: string,
  expected: readonly string[],
  received: readonly string[],
): AuditFinding[] {
  const findings: AuditFinding[] = [];
  const found = (guarantee: AuditFinding['guarantee'], seen: string): void => {
    findings.push({ guarantee, seen: `${name}: ${seen}` });
  };
  const wanted = new Set(expected);
  const got = new Set<string>();
  let last = -1n;
  for (const id of received) {
    if (got.has(id)) found('nothing-doubled', `received ${id} twice`);
    else if (BigInt(id) <= last) found('in-order', `received ${id} after ${last}`);
    if (!wanted.has(id)) found('nothing-foreign', `received ${id}, which is for others`);
    got.add(id);
    last = BigInt(id);
  }
  const missing = expected.filter((id) => !got.has(id));
  for (const id of missing.slice(0, FINDINGS_MAX)) found('nothing-missing', `did not receive ${id}`);
  if (missing.length > FINDINGS_MAX) found('nothing-missing', `did not receive ${missing.length - FINDINGS_MAX} more`);
  return findings;
}

/** The records of a client, by model and id. */
export type ClientRecords = Map<string, { readonly modelName: string; record: Record<string, unknown> }>;

/** Applies entries to records as the interface specifies it for clients. */
export function applyActions(records: ClientRecords, actions: readonly SyncAction[]): void {
  for (const { modelName, modelId, action, data } of actions) {
    const key = `${modelName} ${modelId}`;
    const stored = records.get(key);
    if (action === 'DELETE') records.delete(key);
    else if (action === 'INSERT') records.set(key, { modelName, record: { ...data } });
    else if (stored) stored.record = { ...stored.record, ...data };
    else records.set(key, { modelName, record: { id: modelId, ...data } });
  }
}
