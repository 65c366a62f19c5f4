import type { Change } from '@wts/client';
import type { TargetRecord } from './target-record.ts';

/** One change of a record, with what a refusal says about it. */
export interface Sent {
  readonly change: Change;
  readonly record: TargetRecord;
  readonly exportId: string;
}

/** The same change of one import has the same `clientTxId`, by which the server makes it once. */
export function changeOf(
  { model, id }: TargetRecord,
  action: Change['action'],
  payload: TargetRecord['payload'] = {},
): Change {
  const clientTxId = `${id}:${action.toLowerCase()}`;
  const sent = action === 'INSERT' ? withoutNulls(payload) : payload;
  return { modelName: model, modelId: id, action, payload: sent, clientTxId } as object as Change;
}

/** Null is the default of every field that may be null, and half of the fields of a task. */
function withoutNulls(payload: TargetRecord['payload']): TargetRecord['payload'] {
  return Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null));
}
