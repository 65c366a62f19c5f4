/** How often something was counted in its window, by all replicas together, and when the window ends (Unix ms). */
export interface Standing {
  readonly count: number;
  readonly endsAt: number;
}

/** What one replica counted by itself: key, end of the window, count so far. */
export type Report = readonly [key: string, endsAt: number, count: number];

interface Entry {
  endsAt: number;
  own: number;
  /** Counts of other replicas by their name; most entries have none. */
  others: Map<string, number> | null;
}

/** Each takes about 200 bytes. Beyond it the oldest is forgotten: memory is bounded, whoever sends from everywhere. */
const ENTRIES_MAX = 100_000;
/** Longer windows than any policy has are somebody's mistake or a clock far off. */
const WINDOW_MS_MAX = 60 * 60 * 1000;

/**
 * Counts in fixed windows that open with the first event. Each replica counts for itself and learns the others' counts as
 * totals, never as differences: a report that is lost, doubled or late does no harm, the next one says it all. Replicas
 * that open a window for one key at the same time agree on the one that ends first.
 */
export class Tally {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #entriesMax: number;
  /** Keys counted since they were last reported. */
  #unreported = new Set<string>();

  constructor(now: () => number = Date.now, entriesMax = ENTRIES_MAX) {
    this.#now = now;
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts one more. */
  add(key: string, windowMs: number): Standing {
    const entry = this.#live(key) ?? this.#open(key, this.#now() + windowMs);
    entry.own += 1;
    this.#unreported.add(key);
    return { count: countOf(entry), endsAt: entry.endsAt };
  }

  /** Counts nothing. */
  read(key: string, windowMs: number): Standing {
    const entry = this.#live(key);
    return entry === null
      ? { count: 0, endsAt: this.#now() + windowMs }
      : { count: countOf(entry), endsAt: entry.endsAt };
  }

  /** Takes in what another replica counted. */
  merge(replica: string, reports: readonly Report[]): void {
    const now = this.#now();
    for (const [key, endsAt, count] of reports) {
      if (endsAt <= now || endsAt > now + WINDOW_MS_MAX) continue;
      const entry = this.#live(key) ?? this.#open(key, endsAt);
      entry.endsAt = Math.min(entry.endsAt, endsAt);
      entry.others ??= new Map();
      entry.others.set(replica, Math.max(entry.others.get(replica) ?? 0, count));
    }
  }

  /** Own counts that changed since the last call. */
  changes(): Report[] {
    const keys = this.#unreported;
    this.#unreported = new Set();
    return this.#report(keys);
  }

  /** All own counts of windows that are open: for a replica that knows nothing yet. */
  everything(): Report[] {
    return this.#report(this.#entries.keys());
  }

  /** What the others counted, by replica: one that starts anew learns from it what it counted before. */
  heard(): Map<string, Report[]> {
    const byReplica = new Map<string, Report[]>();
    const now = this.#now();
    for (const [key, { endsAt, others }] of this.#entries) {
      if (others === null || endsAt <= now) continue;
      for (const [replica, count] of others) {
        const reports = byReplica.get(replica) ?? [];
        reports.push([key, endsAt, count]);
        byReplica.set(replica, reports);
      }
    }
    return byReplica;
  }

  /** Forgets what is over. */
  sweep(): void {
    const now = this.#now();
    for (const [key, { endsAt }] of this.#entries) if (endsAt <= now) this.#entries.delete(key);
  }

  #report(keys: Iterable<string>): Report[] {
    const now = this.#now();
    const reports: Report[] = [];
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry !== undefined && entry.own > 0 && entry.endsAt > now) reports.push([key, entry.endsAt, entry.own]);
    }
    return reports;
  }

  #live(key: string): Entry | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (entry.endsAt > this.#now()) return entry;
    this.#entries.delete(key);
    return null;
  }

  #open(key: string, endsAt: number): Entry {
    if (this.#entries.size >= this.#entriesMax) this.#makeRoom();
    const entry: Entry = { endsAt, own: 0, others: null };
    this.#entries.set(key, entry);
    return entry;
  }

  /** In the order of opening, so the first are the first to be over anyway. */
  #makeRoom(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size < this.#entriesMax) return;
      this.#entries.delete(key);
    }
  }
}

function countOf({ own, others }: Entry): number {
  let count = own;
  if (others !== null) for (const one of others.values()) count += one;
  return count;
}
