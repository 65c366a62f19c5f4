import { servicePrincipal } from '@wts/access';
import type { ActionName, ModelRecord, Principal } from '@wts/contracts';
import type { Model, RecordOf } from '@wts/models';
import type { SentAs } from '../store/replays.ts';
import type { Refusal } from './refusal.ts';
import type { SweepStep } from './sweep.ts';

/** One change asked for. */
export interface Mutation {
  readonly modelName: string;
  readonly modelId: string;
  readonly action: ActionName;
  readonly payload: { readonly [field: string]: unknown };
}

/** Changes that become true together or not at all, under one idempotency key. */
export interface Unit {
  readonly principal: Principal;
  /** `service`: another service has decided it, and may write what no client may. */
  readonly authority: 'service' | 'caller';
  readonly clientId: string;
  readonly clientTxId: string;
  readonly mutations: readonly Mutation[];
  /** In place of mutations, and never by a caller: what is left below a record that was deleted or moved. */
  readonly step?: SweepStep;
}

export function sentAs({ principal, clientId, clientTxId }: Unit): SentAs {
  return { userId: principal.userId, clientId, clientTxId };
}

const NO_PERSON = servicePrincipal('').userId;

/** Whose work it is, also when a service does it; work that no person asked for is its service's. */
export function personOf({ principal }: Unit): string {
  return principal.userId === NO_PERSON ? principal.credential.id : principal.userId;
}

/** One entry of the log to be, without its place. */
export interface Effect {
  readonly model: Model;
  readonly id: string;
  readonly action: ActionName;
  readonly groupId: string;
  readonly workspaceId: string | null;
  /** After the change; before it, for DELETE. */
  readonly record: RecordOf<Model>;
  readonly text: string;
  /** What the wire shows, as JSON text; null where that is the record itself (INSERT). */
  readonly data: string | null;
  readonly changed: readonly string[];
}

export interface AppliedMutation extends Mutation {
  readonly syncId: bigint;
  readonly record: ModelRecord;
}

export type UnitOutcome =
  | {
      readonly ok: true;
      readonly lastId: bigint;
      readonly replayed: boolean;
      readonly mutations: readonly AppliedMutation[];
    }
  | Refusal;
