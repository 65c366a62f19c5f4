import { LRUCache } from 'lru-cache';
import type { BootstrapParameters } from '@wts/contracts';
import type { Logger } from '@wts/service-kit/observe';
import type { Reads } from '../fairness/reads.ts';
import { findClientModels, storeClientModels } from '../store/client-models.ts';

/** More than the devices of one person have; the oldest is removed first. */
const SCHEMAS_PER_PERSON_MAX = 16;
const CACHED_MAX = 10_000;

/**
 * Stores which models the schema of a published client has. Such a client names them (`onlyModels`) when it loads everything,
 * but not when it loads a group it has gained; and a record of a model it does not have makes that load fail as a whole. So
 * the list that came with a schema hash is stored by person in PostgreSQL, where every replica finds it.
 */
export class ClientModels {
  readonly #reads: Reads;
  readonly #logger: Pick<Logger, 'warn'>;
  /** Rows of the table that this process has written or read. */
  readonly #cached = new LRUCache<string, string>({ max: CACHED_MAX });

  constructor(reads: Reads, logger: Pick<Logger, 'warn'>) {
    this.#reads = reads;
    this.#logger = logger;
  }

  /** Adds the stored models to a partial load that names none. */
  async complete(userId: string, requested: BootstrapParameters, signal: AbortSignal): Promise<BootstrapParameters> {
    const { type, schemaHash, onlyModels } = requested;
    if (type !== 'partial' || !schemaHash || onlyModels) return requested;
    const models = await this.#find(userId, schemaHash, signal);
    return models === undefined ? requested : { ...requested, onlyModels: models };
  }

  /** Stores the models that a full load names. Called after the request was found valid. */
  async keep(
    userId: string,
    { type, schemaHash, onlyModels: models }: BootstrapParameters,
    signal: AbortSignal,
  ): Promise<void> {
    if (type !== 'full' || !schemaHash || !models) return;
    if (this.#cached.peek(keyOf(userId, schemaHash)) === models) return;
    try {
      await this.#reads.run(userId, signal, (database) =>
        storeClientModels(database, { userId, schemaHash, models }, SCHEMAS_PER_PERSON_MAX),
      );
      this.#cached.set(keyOf(userId, schemaHash), models);
    } catch (err) {
      // A bootstrap must not fail because this write does.
      this.#logger.warn({ err }, 'the models of a client could not be stored; its next partial load may fail');
    }
  }

  async #find(userId: string, schemaHash: string, signal: AbortSignal): Promise<string | undefined> {
    const cached = this.#cached.peek(keyOf(userId, schemaHash));
    if (cached !== undefined) return cached;
    const models = await this.#reads.run(userId, signal, (database) => findClientModels(database, userId, schemaHash));
    if (models !== undefined) this.#cached.set(keyOf(userId, schemaHash), models);
    return models;
  }
}

function keyOf(userId: string, schemaHash: string): string {
  return `${userId} ${schemaHash}`;
}
