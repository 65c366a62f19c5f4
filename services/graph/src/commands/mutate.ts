import { Fault, isUuid, syncApi, type ActionName, type ModelRecord, type SyncTransaction } from '@wts/contracts';
import type { Model, Values } from '@wts/models';
import type { ServiceClient } from '@wts/service-kit/call';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../domain/caller.ts';
import { refusalOf, refused, refusedBy, type Refused } from './outcome.ts';

/** A change of one record, with the names under which it is recognized when it is sent again. */
export interface Change {
  readonly model: Model;
  readonly id: string;
  readonly action: ActionName;
  readonly payload: Values;
  readonly clientId: string;
  readonly clientTxId: string;
}

export type Outcome =
  | { readonly ok: true; readonly syncId: string; readonly lastSyncId: string; readonly record: ModelRecord }
  | Refused;

const CLIENT_TEXT_MAX = 128;

/**
 * Sends the changes to sync in one call, which decides each of them and commits them like those of any client: this service writes
 * nothing itself. Each has its own outcome. Throws when sync is unavailable: then the changes may be applied or not, and are applied
 * once when they are sent again under the same names. Keeps graphql.writes.one-log.
 */
export async function mutate(
  sync: ServiceClient,
  { principal, requestId, signal }: Caller,
  changes: readonly Change[],
): Promise<Outcome[]> {
  const faults = changes.map(faultOf);
  const sent = changes.filter((_, index) => faults[index] === null);
  const answers = sent.length === 0 ? [] : await send();
  const answered = answers[Symbol.iterator]();
  return faults.map((fault) => fault ?? answered.next().value ?? refused('INTERNAL', 'Sync gave no result'));

  async function send(): Promise<Outcome[]> {
    const batchId = randomUUID();
    try {
      const reply = await sync.call(syncApi.mutate, {
        principal,
        requestId,
        signal,
        body: { batchId, transactions: sent.map(toTransaction) },
        // Under the same names the changes are applied once.
        idempotent: true,
      });
      const records = new Map(reply.mutations.map(({ clientTxId, record }) => [clientTxId, record]));
      return reply.results.map(({ clientTxId, success, syncId = '0', code = 'internal', error = '' }): Outcome => {
        if (!success) return refusalOf(new Fault(code, { message: error }));
        const record = records.get(clientTxId);
        if (!record) throw new Error('sync gave no record of an accepted change');
        return { ok: true, syncId, lastSyncId: syncId, record };
      });
    } catch (failure) {
      const refusal = refusalOf(failure);
      return sent.map(() => refusal);
    }
  }
}

function toTransaction({ model, id, action, payload, clientId, clientTxId }: Change): SyncTransaction {
  return { modelName: model.name, modelId: id, action, payload, clientId, clientTxId };
}

/** What sync would refuse the whole request for. Texts with NUL are refused before. */
function faultOf({ id, clientId, clientTxId }: Change): Refused | null {
  if (!isUuid(id)) return refusedBy('validation_failed', 'id must be a UUID');
  return wrongClientText('clientId', clientId) ?? wrongClientText('clientTxId', clientTxId);
}

/** A name that a client gives to itself or to a change has the bounds of sync everywhere. */
export function wrongClientText(name: 'clientId' | 'clientTxId', { length }: string): Refused | null {
  if (length >= 1 && length <= CLIENT_TEXT_MAX) return null;
  return refusedBy('validation_failed', `${name} must have 1 to ${CLIENT_TEXT_MAX} characters`);
}
