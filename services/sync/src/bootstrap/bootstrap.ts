import { Fault, formatSyncId, LIMITS, syncApi } from '@wts/contracts';
import type { PersonGroups } from '../store/groups.ts';
import type { Admission } from '../snapshots/admission.ts';
import { Production, type Encoding, type ProductionTools } from '../snapshots/production.ts';
import type { Sources } from '../snapshots/sources.ts';
import type { SpoolReader } from '../snapshots/spool.ts';
import { visibleSelections } from '../store/visible.ts';
import { narrow, type Narrowed } from './audience.ts';
import type { Question } from './question.ts';

/*
 * Everything a caller may see, as it is at one place of the log.
 *
 * An answer is made in two halves that do not wait for each other: a production reads a snapshot out of PostgreSQL into a
 * spool as fast as it can (`snapshots/production.ts`), and each answer is sent from a spool at the pace of its client
 * (`snapshots/send.ts`). Only the first line is the caller's own, so one production serves all who ask for the same: a herd
 * that reconnects costs PostgreSQL one snapshot for each workspace and not for each client.
 *
 * A production made for others is given to a caller only when
 *   - nothing in the caller's own group lies between the snapshot and now: their memberships are the same in both;
 *   - the log still holds what follows the snapshot, and the snapshot has reached the place the caller knows of;
 *   - it shows all that was committed before they asked: it was opened after that, or nothing changed in its groups since.
 * In a herd the last is let go for snapshots that are seconds old: every client goes on with the deltas after it.
 *
 * Keeps sync.bootstrap.lines.
 */

export interface BootstrapAnswer extends Disposable {
  /** The caller's own line; repeats their schemaHash. Keeps sync.bootstrap.schema-hash. */
  readonly firstLine: string;
  /** What follows it; null when there is nothing to see. */
  readonly rest: Joined | null;
}

export interface BootstrapOptions extends ProductionTools {
  readonly sources: Sources;
}

/** A person whose groups change at every try is not one we serve in a hurry. */
const TRIES_MAX = 4;
const KEPT_MAX = 64;

/** The memberships in the snapshot are not those the production was planned for. */
class Moved extends Error {}

export class Bootstraps implements Disposable {
  readonly #options: BootstrapOptions;
  readonly #admission: Admission;
  readonly #sources: Sources;
  /** By what was asked for; the oldest first. */
  readonly #kept = new Map<string, Production>();
  #answers = 0;

  constructor(options: BootstrapOptions) {
    this.#options = options;
    this.#admission = options.admission;
    this.#sources = options.sources;
  }

  /** Begins an answer. It must be disposed of: it counts, and holds what it is sent from. */
  async answer(question: Question, encoding: Encoding): Promise<BootstrapAnswer> {
    if (this.#answers >= LIMITS.snapshotAnswersMax || !this.#hasDisk()) throw this.#admission.refuse();
    this.#answers += 1;
    try {
      return await this.#begin(question, encoding);
    } catch (error) {
      this.#answers -= 1;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const key of this.#kept.keys()) this.#forget(key);
  }

  async #begin(question: Question, encoding: Encoding): Promise<BootstrapAnswer> {
    const { userId, workspaceId } = question;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const person = await this.#sources.groups.of(userId, workspaceId ?? undefined);
      const narrowed = narrow(question, person);
      if (narrowed.audience.groups.length === 0) return this.#answerOf(question, narrowed, person, null);
      const rest = await this.#join({ question, person, narrowed, encoding });
      try {
        const { at, epoch } = await rest.production.opened;
        return this.#answerOf(question, narrowed, { at: rest.at ?? at, epoch }, rest);
      } catch (error) {
        rest.production.leave(rest.reader);
        if (!(error instanceof Moved)) throw error;
      }
    }
    throw new Fault('unavailable', { message: 'Your memberships are changing; try again shortly' });
  }

  #answerOf(
    { schemaHash }: Question,
    { subscribed }: Narrowed,
    { at, epoch }: Pick<PersonGroups, 'at' | 'epoch'>,
    rest: Joined | null,
  ): BootstrapAnswer {
    const metadata = {
      lastSyncId: formatSyncId(at),
      subscribedSyncGroups: subscribed,
      schemaHash,
      databaseVersion: syncApi.DATABASE_VERSION,
      epoch,
    };
    return {
      firstLine: `${JSON.stringify(metadata)}\n`,
      rest,
      [Symbol.dispose]: () => {
        this.#answers -= 1;
        rest?.production.leave(rest.reader);
      },
    };
  }

  /** A production that serves, joined: one that is there, or a new one. */
  async #join(ask: Ask): Promise<Joined> {
    const { question, narrowed, encoding } = ask;
    const { groups, person } = narrowed.audience;
    const others = narrowed.all === groups ? null : narrowed.all;
    const key = JSON.stringify([encoding, question.models.map(({ name }) => name), groups, person, others]);
    for (let refused: Production | undefined; ;) {
      const found = this.#kept.get(key);
      if (found === undefined || found === refused || !found.isShareable) return this.#produce(key, ask);
      const reader = found.join();
      let at: bigint | null = null;
      try {
        at = await this.#placeOf(found, ask);
      } finally {
        if (at === null) found.leave(reader);
      }
      if (at !== null) {
        this.#options.metrics.onShared();
        return { production: found, reader, at };
      }
      refused = found;
    }
  }

  /** The place of the log at which this production shows what the caller may see; null when it does not serve them. */
  async #placeOf(production: Production, { question, person, narrowed }: Ask): Promise<bigint | null> {
    let taken: PersonGroups;
    try {
      taken = await production.opened;
    } catch (error) {
      if (error instanceof Moved) return null;
      throw error;
    }
    if (taken.epoch !== person.epoch || taken.at < person.floor || taken.at < question.reached) return null;
    if (taken.at === person.at) return taken.at;
    const since = taken.at < person.at ? taken.at : person.at;
    if (await this.#sources.changedSince(since, [question.userId])) return null;
    if (taken.at > person.at) return taken.at;
    if (!(await this.#sources.changedSince(taken.at, narrowed.audience.groups))) return person.at;
    const ageMs = performance.now() - (production.openedAt ?? 0);
    return this.#admission.isBusy && ageMs < LIMITS.snapshotSharedMs ? taken.at : null;
  }

  #produce(key: string, { question, person, narrowed, encoding }: Ask): Joined {
    const { userId, workspaceId, models, reached } = question;
    const production = new Production(
      {
        userId,
        workspaceId,
        encoding,
        pool: () => this.#sources.pick({ userId, person, reached }),
        select: ({ groups }) => {
          if (groups.symmetricDifference(person.groups).size > 0) throw new Moved();
          return models.flatMap((model) => visibleSelections(model, narrowed.audience, narrowed.all));
        },
        ending: (rows) => JSON.stringify({ type: 'end', rowCount: rows }),
      },
      this.#options,
    );
    const reader = production.join();
    this.#keep(key, production);
    return { production, reader, at: null };
  }

  #keep(key: string, production: Production): void {
    this.#forget(key);
    this.#kept.set(key, production);
    production.keep();
    const drop = (): void => {
      if (this.#kept.get(key) === production) this.#forget(key);
    };
    void production.done.then(() => {
      if (production.isShareable) setTimeout(drop, LIMITS.snapshotKeptMs).unref();
      else drop();
    });
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= KEPT_MAX) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#kept.get(key)?.forget();
    this.#kept.delete(key);
  }

  /** What nobody reads makes room first. */
  #hasDisk(): boolean {
    const { room } = this.#options;
    if (room.isShortOfDisk) {
      for (const [key, production] of this.#kept) if (!production.hasReaders) this.#forget(key);
    }
    return !room.isShortOfDisk;
  }
}

interface Joined {
  readonly production: Production;
  readonly reader: SpoolReader;
  /** When not that of the snapshot: later, and nothing the caller may see has changed between. */
  readonly at: bigint | null;
}

interface Ask {
  readonly question: Question;
  readonly person: PersonGroups;
  readonly narrowed: Narrowed;
  readonly encoding: Encoding;
}
