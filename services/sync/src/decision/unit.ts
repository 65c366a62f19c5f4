import { randomUUID } from 'node:crypto';
import { servicePrincipal } from '@wts/access';
import type { ActionName, ModelRecord, Principal } from '@wts/contracts';
import type { Model, RecordOf } from '@wts/models';
import type { IdempotencyKey } from '../store/idempotency-keys.ts';
import type { NewSweep, SweepRelation } from '../store/sweeps.ts';
import type { Refusal } from './refusal.ts';

/** One change of one record, as it was sent. */
export interface Mutation {
  readonly modelName: string;
  readonly modelId: string;
  readonly action: ActionName;
  readonly payload: { readonly [field: string]: unknown };
}

/** Mutations that are committed together or not at all, under one idempotency key. */
export interface Unit {
  readonly principal: Principal;
  /** `service`: another service has decided the unit, and may write what no client may. */
  readonly authority: 'service' | 'caller';
  readonly clientId: string;
  readonly clientTxId: string;
  readonly mutations: readonly Mutation[];
  /** In place of mutations, and never from a caller. A unit with a step has a batch of its own. */
  readonly step?: SweepStep | PurgeStep | PutStep | LeaveStep;
  readonly due?: DueTask;
}

/** A step of a sweep: records that referred to its root when the sweeper found them. */
export interface SweepStep {
  readonly sweep: NewSweep;
  readonly relation: SweepRelation;
  readonly ids: readonly string[];
}

/** A step of the purge of the Trash: archived records that the purge found, by their ids, and when they were archived. */
export interface PurgeStep {
  readonly model: Model;
  /** Null: it is not archived, as a workspace that has moved to another cell. */
  readonly archivedAt: ReadonlyMap<string, string | null>;
}

/** A record as another cell has it; null: it does not. */
export interface PutRecord {
  readonly model: Model;
  readonly id: string;
  readonly groupId: string;
  readonly record: RecordOf<Model> | null;
  /** What a workspace sees of a person who left it. */
  readonly isFrozen: boolean;
}

/** Records of a workspace that arrives; null: people. */
export interface PutStep {
  readonly move: 'arriving' | '';
  readonly workspaceId: string | null;
  readonly records: readonly PutRecord[];
}

/** Memberships of a workspace that has moved away. */
export interface LeaveStep {
  readonly move: 'moved';
  readonly memberIds: readonly string[];
}

/** A task that the scheduler found: its series goes on where this is still its day. */
export interface DueTask {
  readonly taskId: string;
  readonly workspaceId: string;
  readonly day: string;
  /** How many tasks of a series may be open. */
  readonly openMax: number;
  /** Why the next task could not be made: that is stored, and nothing is made. */
  readonly failure?: string;
}

export function idempotencyKeyOf({ principal, clientId, clientTxId }: Unit): IdempotencyKey {
  return { userId: principal.userId, clientId, clientTxId };
}

/** What this service decides by itself. `clientId` names it in the log. */
export function ownUnit(clientId: string, work: Pick<Unit, 'step'> | Pick<Unit, 'due'>): Unit {
  const principal = servicePrincipal(clientId);
  return { principal, authority: 'service', clientId, clientTxId: randomUUID(), mutations: [], ...work };
}

const NO_PERSON = servicePrincipal('').userId;

/** The person or the service that the work is accounted to: the person of a principal, also when a service acts for them. */
export function personOf({ principal }: Unit): string {
  return principal.userId === NO_PERSON ? principal.credential.id : principal.userId;
}

/** A future entry of the log, without its position. */
export interface Effect {
  readonly model: Model;
  readonly id: string;
  readonly action: ActionName;
  readonly groupId: string;
  readonly workspaceId: string | null;
  /** After the change; before it, for DELETE. */
  readonly record: RecordOf<Model>;
  readonly text: string;
  /** The `data` of the entry on the wire, as JSON text; null where that is the record itself (INSERT). */
  readonly data: string | null;
  readonly changed: readonly string[];
  /** A task or a project was open before and is done after it. */
  readonly completes: boolean;
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
