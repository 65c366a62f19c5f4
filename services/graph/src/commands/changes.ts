import type { Model, Values } from '@wts/models';
import { createHmac, randomUUID } from 'node:crypto';
import { RANK_FIELD } from '../store/ranks.ts';
import type { Change } from './mutate.ts';

/** The names under which a caller may send a change again. */
export interface SentAgain {
  readonly clientId?: string | null;
  readonly clientTxId?: string | null;
}

/** Where records go in an ordered list: after one record, before one, or between two. */
export interface Place {
  readonly before?: string | null;
  readonly after?: string | null;
}

/** A change, and the place that its rank is computed from. */
export interface PlacedChange {
  readonly change: Change;
  readonly place: Place | null;
  /** False: its name and the id of a new record were made here, so it cannot have been committed before. */
  readonly isRepeatable: boolean;
}

/** What can be done with a record besides creating and updating it. */
export const STEPS = {
  Complete: () => ({ action: 'UPDATE', payload: { completedAt: new Date().toISOString() } }),
  Reopen: () => ({ action: 'UPDATE', payload: { completedAt: null } }),
  Archive: () => ({ action: 'ARCHIVE', payload: {} }),
  Unarchive: () => ({ action: 'UNARCHIVE', payload: {} }),
  Delete: () => ({ action: 'DELETE', payload: {} }),
} as const satisfies Record<string, () => Pick<Change, 'action' | 'payload'>>;

export type Step = keyof typeof STEPS;

const CLIENT_ID = 'graphql';

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

  create(input: Values, index = 0): PlacedChange {
    const { id, ...payload } = input;
    const hasOwnId = typeof id === 'string';
    return this.#placed(hasOwnId ? id : this.#newId(index), { action: 'INSERT', payload, hasOwnId }, index);
  }

  update(id: string, payload: Values, index = 0): PlacedChange {
    return this.#placed(id, { action: 'UPDATE', payload }, index);
  }

  step(id: string, step: Step, index = 0): PlacedChange {
    return this.#placed(id, STEPS[step](), index);
  }

  #placed(
    id: string,
    { action, payload, hasOwnId = false }: Pick<Change, 'action' | 'payload'> & { readonly hasOwnId?: boolean },
    index: number,
  ): PlacedChange {
    const { place, ...values } = payload;
    const change = {
      model: this.#model,
      id,
      action,
      payload: values,
      clientId: this.#clientId,
      clientTxId: this.#nameOf(index) ?? randomUUID(),
    };
    const isRepeatable = this.#clientTxId !== null || hasOwnId;
    return { change, place: isPlace(place) ? place : null, isRepeatable };
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
    const hex = createHmac('sha256', this.#secret).update(parts).digest('hex');
    // A UUID of version 8 (RFC 9562).
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }
}

/** The change with a rank. */
export function withRank(change: Change, rank: string): Change {
  return { ...change, payload: { ...change.payload, [RANK_FIELD]: rank } };
}

function isPlace(value: unknown): value is Place {
  return typeof value === 'object' && value !== null;
}
