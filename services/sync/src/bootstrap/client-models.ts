import { BoundedMap } from '@wts/access';
import type { BootstrapQuestion } from '@wts/contracts';
import type { Logger } from '@wts/service-kit/observe';
import type { Reads } from '../fairness/reads.ts';
import { findClientModels, keepClientModels } from '../store/client-models.ts';

/** More schemas than one person's devices have; the oldest goes first. */
const SCHEMAS_PER_PERSON_MAX = 16;
const KNOWN_MAX = 10_000;

/**
 * Which models the schema of a published client has. Such a client names them when it loads everything, and not when it
 * loads a group it has gained; a record of a model it does not have would make that load fail as a whole. So what was
 * named with a schema is kept for the person, where every replica finds it.
 */
export class ClientModels {
  readonly #reads: Reads;
  readonly #logger: Pick<Logger, 'warn'>;
  /** What is in the table, as far as this process has seen. */
  readonly #known = new BoundedMap<string, string>(KNOWN_MAX);

  constructor(reads: Reads, logger: Pick<Logger, 'warn'>) {
    this.#reads = reads;
    this.#logger = logger;
  }

  /** The question with the models it leaves to us to know. */
  async complete(userId: string, asked: BootstrapQuestion, signal: AbortSignal): Promise<BootstrapQuestion> {
    const { type, schemaHash, onlyModels } = asked;
    if (type !== 'partial' || !schemaHash || onlyModels) return asked;
    const models = await this.#recall(userId, schemaHash, signal);
    return models === undefined ? asked : { ...asked, onlyModels: models };
  }

  /** Keeps what a question names, once it is known to be a good one. */
  async remember(
    userId: string,
    { type, schemaHash, onlyModels: models }: BootstrapQuestion,
    signal: AbortSignal,
  ): Promise<void> {
    if (type !== 'full' || !schemaHash || !models) return;
    if (this.#known.get(keyOf(userId, schemaHash)) === models) return;
    try {
      await this.#reads.run(userId, signal, (database) =>
        keepClientModels(database, { userId, schemaHash, models }, SCHEMAS_PER_PERSON_MAX),
      );
      this.#known.set(keyOf(userId, schemaHash), models);
    } catch (err) {
      // Reading is not to fail because writing does.
      this.#logger.warn({ err }, 'the models of a client could not be kept');
    }
  }

  async #recall(userId: string, schemaHash: string, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#known.get(keyOf(userId, schemaHash));
    if (known !== undefined) return known;
    const models = await this.#reads.run(userId, signal, (database) => findClientModels(database, userId, schemaHash));
    if (models !== undefined) this.#known.set(keyOf(userId, schemaHash), models);
    return models;
  }
}

function keyOf(userId: string, schemaHash: string): string {
  return `${userId} ${schemaHash}`;
}
