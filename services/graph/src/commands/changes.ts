import { uuidOfDigest } from '@wts/contracts';
import { RANK_FIELD, type Model, type Values } from '@wts/models';
import { createHmac, randomUUID } from 'node:crypto';
import type { Change } from './mutate.ts';

/** The names under which a caller may send a change again. */
export interface SentAgain {
  readonly clientId?: string | null;
  readonly clientTxId?: string | null;
}

/** `PlaceInput`: after one record, before one, or between two. */
export interface PlaceInput {
  readonly before?: string | null;
  readonly after?: string | null;
}

type MakeStep = (day: string | null) => Pick<Change, 'action' | 'payload'>;

/** What can be done with a record besides creating and updating it. */
const STEPS = {
  Complete: () => ({ action: 'UPDATE', payload: { completedAt: new Date().toISOString() } }),
  Skip: (day) => ({ action: 'UPDATE', payload: { repeatSkip: day ?? true } }),
  Reopen: () => ({ action: 'UPDATE', payload: { completedAt: null } }),
  Archive: () => ({ action: 'ARCHIVE', payload: {} }),
  Unarchive: () => ({ action: 'UNARCHIVE', payload: {} }),
  Delete: () => ({ action: 'DELETE', payload: {} }),
} as const satisfies Record<string, MakeStep>;

export type Step = keyof typeof STEPS;

/** `day`: the one to skip. */
export interface DayStep {
  readonly step: Step;
  readonly day?: string | null | undefined;
}

export const CLIENT_ID = 'graphql';

/**
 * The changes of one mutation: one change, or the changes of a batch, which are named by their index. Keeps
 * graphql.writes.idempotent.
 */
export class Changes {
  readonly #model: Model;
  readonly #userId: string;
  readonly #secret: string;
  readonly #clientId: string;
  readonly #clientTxId: string | null;
  readonly #isBatch: boolean;
  /** The record of the change before, and the place that it was given. */
  #placed: { readonly id: string; readonly place: PlaceInput } | null = null;

  constructor(
    model: Model,
    { clientId, clientTxId }: SentAgain,
    by: { readonly userId: string; readonly secret: string; readonly isBatch: boolean },
  ) {
    this.#model = model;
    this.#userId = by.userId;
    this.#secret = by.secret;
    this.#isBatch = by.isBatch;
    this.#clientId = clientId ?? CLIENT_ID;
    this.#clientTxId = clientTxId ?? null;
  }

  create(input: Values, index = 0): Change {
    const { id, place, ...payload } = input;
    const newId = typeof id === 'string' ? id : this.#newId(index);
    const placed = isPlace(place) ? { ...payload, place: this.#placementOf(newId, place) } : payload;
    return this.#change(newId, { action: 'INSERT', payload: placed }, index);
  }

  update(id: string, payload: Values, index = 0): Change {
    return this.#change(id, { action: 'UPDATE', payload }, index);
  }

  step(id: string, { step, day }: DayStep, index = 0): Change {
    const make: MakeStep = STEPS[step];
    return this.#change(id, make(day ?? null), index);
  }

  /** Archives a record whose model wants a confirmation. */
  archive(id: string, payload: Values): Change {
    return this.#change(id, { action: 'ARCHIVE', payload }, 0);
  }

  #change(id: string, { action, payload }: Pick<Change, 'action' | 'payload'>, index: number): Change {
    const { place, ...values } = payload;
    return {
      model: this.#model,
      id,
      action,
      payload: isPlace(place) ? { ...values, [RANK_FIELD]: place } : values,
      clientId: this.#clientId,
      clientTxId: this.#nameOf(index) ?? randomUUID(),
    };
  }

  /** New records of a batch with the same place go there in their order: each after the one before it. Keeps graphql.writes.place. */
  #placementOf(id: string, place: PlaceInput): PlaceInput {
    const last = this.#placed;
    this.#placed = { id, place };
    const isSame =
      last !== null && isSameId(last.place.after, place.after) && isSameId(last.place.before, place.before);
    return isSame && (place.after ?? null) !== null ? { ...place, after: last.id } : place;
  }

  #nameOf(index: number): string | null {
    if (this.#clientTxId === null) return null;
    return this.#isBatch ? `${this.#clientTxId}:${index}` : this.#clientTxId;
  }

  /**
   * A change that is sent again must name the same record, so the id follows from the name of the change. Other
   * people cannot compute it, because otherwise one of them could take the id first.
   */
  #newId(index: number): string {
    const name = this.#nameOf(index);
    if (name === null) return randomUUID();
    const parts = JSON.stringify(['id of a new record', this.#model.name, this.#userId, this.#clientId, name]);
    return uuidOfDigest(createHmac('sha256', this.#secret).update(parts).digest('hex'));
  }
}

/** Null names no record, as nothing does, and ids may have capitals. */
function isSameId(one: string | null | undefined, other: string | null | undefined): boolean {
  return (one ?? '').toLowerCase() === (other ?? '').toLowerCase();
}

export function isPlace(value: unknown): value is PlaceInput {
  return typeof value === 'object' && value !== null;
}
