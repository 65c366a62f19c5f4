import { Fault, formatSyncId, LIMITS, syncApi } from '@wts/contracts';
import { type PersonGroups, visibleSelections } from '@wts/read-model';
import type { FairGate } from '../fairness/fair-gate.ts';
import {
  Production,
  tooManySnapshots,
  type Encoding,
  type ProductionReader,
  type ProductionTools,
} from '../snapshots/production.ts';
import type { Sources } from '../snapshots/sources.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { narrow, type Narrowed } from './narrow.ts';
import type { Question } from './question.ts';

/*
 * Everything a caller may see, as it is at one place of the log.
 *
 * An answer is made in two halves that do not wait for each other: a production reads a snapshot out of PostgreSQL into a
 * spool as fast as it can (`snapshots/production.ts`), and each answer is sent from a spool at the pace of its client
 * (`snapshots/send.ts`). Only the first line is the caller's own, so one production serves all who ask for the same: a storm
 * that reconnects costs PostgreSQL one snapshot for each workspace and not for each client.
 *
 * A production made for others is given to a caller only when
 *   - nothing in the caller's own group lies between the snapshot and now: their memberships are the same in both;
 *   - the log still holds what follows the snapshot, and the snapshot has reached the place the caller knows of;
 *   - it shows all that was committed before they asked: it was opened after that, or nothing changed in its groups since.
 * In a reconnect storm the last is let go for snapshots that are seconds old: every client goes on with the deltas after it.
 *
 * Keeps sync.bootstrap.lines.
 */

interface Begun {
  /** The caller's own line; repeats their schemaHash. Keeps sync.bootstrap.schema-hash. */
  readonly firstLine: string;
  /** What follows it; null when there is nothing to see. */
  readonly rest: Joined | null;
}

export interface BootstrapAnswer extends Begun, Disposable {}

export interface BootstrapOptions extends ProductionTools {
  readonly sources: Sources;
}

/** A person whose groups change at every try is not one we serve in a hurry. */
const TRIES_MAX = 4;
const KEPT_MAX = 64;
/** Of one person: somebody who asks for ever new selections forgets their own, not those of others. */
const KEPT_OF_ONE_MAX = 16;

/** The memberships in the snapshot are not those the production was planned for. */
class Moved extends Error {}

export class Bootstraps implements Disposable {
  readonly #options: BootstrapOptions;
  readonly #gate: FairGate;
  readonly #sources: Sources;
  /** By what was asked for; the oldest first. */
  readonly #kept = new Map<string, Production>();

  constructor(options: BootstrapOptions) {
    this.#options = options;
    this.#gate = options.gate;
    this.#sources = options.sources;
  }

  /** Begins an answer. It must be disposed of: it counts, and holds what it is sent from. Given up when the client leaves. */
  async answer(question: Question, encoding: Encoding, signal: AbortSignal): Promise<BootstrapAnswer> {
    const place = this.#enter(question.userId);
    if (place === undefined) throw tooManySnapshots(this.#options.metrics);
    try {
      const { firstLine, rest } = await this.#begin(question, encoding, signal);
      const end = (): void => {
        place[Symbol.dispose]();
        rest?.production.leave(rest.reader);
      };
      return { firstLine, rest, [Symbol.dispose]: end };
    } catch (error) {
      place[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const key of this.#kept.keys()) this.#forget(key);
  }

  async #begin(question: Question, encoding: Encoding, signal: AbortSignal): Promise<Begun> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const person = await this.#sources.groupsOf(question, signal);
      const narrowed = narrow(question, person);
      if (narrowed.viewer.groups.length === 0) return { firstLine: lineOf(question, narrowed, person), rest: null };
      const rest = await this.#join({ question, person, narrowed, encoding, signal });
      try {
        const { at, epoch } = await unlessAborted(rest.production.opened, signal);
        return { firstLine: lineOf(question, narrowed, { at: rest.at ?? at, epoch }), rest };
      } catch (error) {
        rest.production.leave(rest.reader);
        if (!(error instanceof Moved)) throw error;
      }
    }
    throw new Fault('unavailable', { message: 'Your memberships are changing; try again shortly' });
  }

  /** A production that serves, joined: one that is there, or a new one. */
  async #join(ask: Ask): Promise<Joined> {
    const { question, narrowed, encoding } = ask;
    const { groups, person } = narrowed.viewer;
    const others = narrowed.all === groups ? null : narrowed.all;
    const key = JSON.stringify([encoding, question.models.map(({ name }) => name), groups, person, others]);
    for (let refused: Production | undefined; ;) {
      const found = this.#kept.get(key);
      if (found === undefined || found === refused || !found.isShareable) return this.#produce(key, ask);
      const reader = found.join(question.userId);
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
  async #placeOf(production: Production, { question, person, narrowed, signal }: Ask): Promise<bigint | null> {
    const { userId } = question;
    let taken: PersonGroups;
    try {
      taken = await unlessAborted(production.opened, signal);
    } catch (error) {
      if (error instanceof Moved) return null;
      throw error;
    }
    if (taken.epoch !== person.epoch || taken.at < person.floor || taken.at < question.reached) return null;
    if (taken.at === person.at) return taken.at;
    const since = taken.at < person.at ? taken.at : person.at;
    if (await this.#sources.changedSince(userId, since, [userId], signal)) return null;
    if (taken.at > person.at) return taken.at;
    if (!(await this.#sources.changedSince(userId, taken.at, narrowed.all, signal))) return person.at;
    const ageMs = performance.now() - (production.openedAt ?? 0);
    return this.#gate.isBusy && ageMs < LIMITS.snapshotSharedMs ? taken.at : null;
  }

  #produce(key: string, { question, person, narrowed, encoding }: Ask): Joined {
    const { userId, workspaceId, models, reached } = question;
    const production = new Production(
      {
        userId,
        workspaceId,
        encoding,
        pool: (signal) => this.#sources.pick({ userId, person, reached }, signal),
        select: ({ groups }) => {
          if (groups.symmetricDifference(person.groups).size > 0) throw new Moved();
          return models.flatMap((model) => visibleSelections(model, narrowed.viewer, narrowed.all));
        },
        ending: (rows) => JSON.stringify({ type: 'end', rowCount: rows }),
      },
      this.#options,
    );
    const reader = production.join(userId);
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
    this.#forgetOldest(
      [...this.#kept].filter(([, { person }]) => person === production.person),
      KEPT_OF_ONE_MAX,
    );
    this.#forgetOldest([...this.#kept], KEPT_MAX);
  }

  #forgetOldest(kept: readonly [string, Production][], max: number): void {
    for (const [key] of kept.slice(0, Math.max(0, kept.length - max))) this.#forget(key);
  }

  #forget(key: string): void {
    this.#kept.get(key)?.forget();
    this.#kept.delete(key);
  }

  /** What none reads makes room first: this person's own, and that of all when all together hold too much. */
  #enter(person: string): Disposable | undefined {
    const { room } = this.#options;
    let place = room.enter(person);
    if (place === undefined) {
      const isForAll = room.disk.isShort;
      for (const [key, production] of this.#kept) {
        if (!production.hasReaders && (isForAll || production.person === person)) this.#forget(key);
      }
      place = room.enter(person);
    }
    return place;
  }
}

function lineOf(
  { schemaHash }: Question,
  { subscribed }: Narrowed,
  { at, epoch }: Pick<PersonGroups, 'at' | 'epoch'>,
): string {
  const metadata = {
    lastSyncId: formatSyncId(at),
    subscribedSyncGroups: subscribed,
    schemaHash,
    databaseVersion: syncApi.DATABASE_VERSION,
    epoch,
  };
  return `${JSON.stringify(metadata)}\n`;
}

interface Joined {
  readonly production: Production;
  readonly reader: ProductionReader;
  /** When not that of the snapshot: later, and nothing the caller may see has changed between. */
  readonly at: bigint | null;
}

interface Ask {
  readonly question: Question;
  readonly person: PersonGroups;
  readonly narrowed: Narrowed;
  readonly encoding: Encoding;
  readonly signal: AbortSignal;
}
