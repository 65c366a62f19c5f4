import type { SyncAction } from '@wts/contracts';
import { FINDINGS_MAX, type Finding } from './finding.ts';

/**
 * Compares what one listener received with what the log holds for its groups: nothing missing, nothing doubled, ascending.
 * The one check that every surface is judged by.
 */
export function compareDeliveries(
  listener: string,
  expected: readonly string[],
  received: readonly string[],
): Finding[] {
  const findings: Finding[] = [];
  const found = (promise: Finding['promise'], seen: string): void => {
    findings.push({ promise, seen: `${listener}: ${seen}` });
  };
  const wanted = new Set(expected);
  const got = new Set<string>();
  let last = -1n;
  for (const id of received) {
    if (got.has(id)) found('nothing-doubled', `${id} came twice`);
    else if (BigInt(id) <= last) found('in-order', `${id} came after ${last}`);
    if (!wanted.has(id)) found('nothing-foreign', `${id} is not for it`);
    got.add(id);
    last = BigInt(id);
  }
  const missing = expected.filter((id) => !got.has(id));
  for (const id of missing.slice(0, FINDINGS_MAX)) found('nothing-missing', `${id} did not come`);
  if (missing.length > FINDINGS_MAX) found('nothing-missing', `${missing.length - FINDINGS_MAX} more did not come`);
  return findings;
}

export type Replica = Map<string, { readonly modelName: string; record: Record<string, unknown> }>;

/** A client's copy, kept as the interface says a client may keep it. */
export function applyActions(replica: Replica, actions: readonly SyncAction[]): void {
  for (const { modelName, modelId, action, data } of actions) {
    const known = replica.get(`${modelName} ${modelId}`);
    if (action === 'DELETE') replica.delete(`${modelName} ${modelId}`);
    else if (action === 'INSERT') replica.set(`${modelName} ${modelId}`, { modelName, record: { ...data } });
    else if (known) known.record = { ...known.record, ...data };
    else replica.set(`${modelName} ${modelId}`, { modelName, record: { id: modelId, ...data } });
  }
}
