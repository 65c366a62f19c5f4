/** The count of a key in its window, of all replicas together, and the end of the window (Unix ms). */
export interface WindowCount {
  readonly count: number;
  readonly endsAt: number;
}

/** The totals of one replica: key, end of the window, how many it counted and took back so far. */
export type Report = readonly [key: string, endsAt: number, counted: number, takenBack?: number];

/** Both only grow, so of two reports the larger numbers are newer. */
interface Counts {
  counted: number;
  takenBack: number;
}

interface Entry {
  endsAt: number;
  readonly own: Counts;
  /** Counts of other replicas by their name; most entries have none. */
  others: Map<string, Counts> | null;
}

export interface Count {
  /** Includes this event. */
  readonly window: WindowCount;
  /** The count with everything that other replicas have counted by now, as if it was before this event. */
  readonly countWithOthers: () => number;
  /** Removes the event from the count; a second call does nothing. */
  readonly takeBack: () => void;
}

/** An entry takes about 200 bytes. Beyond this the oldest is removed, so that many senders cannot fill the memory. */
const ENTRIES_MAX = 100_000;
/** A longer window in a report is an error or a wrong clock. */
export const WINDOW_MS_MAX = 60 * 60 * 1000;
/** A replica that published nothing for so long has stopped; each publishes every 10 s. */
const PEER_MS = 25_000;
const PEERS_MAX = 256;

/**
 * Counts in fixed windows that open with the first event. Each replica counts its own events and merges the totals of the
 * others. Reports are totals, not differences, so a lost, repeated or late report is corrected by the next one. When replicas
 * open a window for one key in parallel, all use the one that ends first.
 */
export class Tally {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #entriesMax: number;
  /** Keys counted since they were last reported. */
  #unreported = new Set<string>();
  /** When each other replica last published. */
  readonly #peers = new Map<string, number>();

  constructor(now: () => number = Date.now, entriesMax = ENTRIES_MAX) {
    this.#now = now;
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts an event. */
  add(key: string, windowMs: number): Count {
    const endsAt = this.#now() + windowMs;
    const entry = this.#live(key) ?? this.#open(key, endsAt);
    // One that ends later began before this clock was set back, or by the clock of a replica that is ahead.
    entry.endsAt = Math.min(entry.endsAt, endsAt);
    entry.own.counted += 1;
    this.#unreported.add(key);
    const ownCount = netOf(entry.own);
    let isCounted = true;
    return {
      window: { count: countOf(entry), endsAt: entry.endsAt },
      countWithOthers: () => ownCount + countOf(entry) - netOf(entry.own),
      takeBack: () => {
        if (!isCounted) return;
        isCounted = false;
        entry.own.takenBack += 1;
        this.#unreported.add(key);
      },
    };
  }

  /** How many replicas share counts, including this one. */
  get replicas(): number {
    const oldest = this.#now() - PEER_MS;
    for (const [replica, at] of this.#peers) if (at < oldest) this.#peers.delete(replica);
    return 1 + this.#peers.size;
  }

  /** Another replica has published. */
  markAlive(replica: string): void {
    if (this.#peers.size < PEERS_MAX || this.#peers.has(replica)) this.#peers.set(replica, this.#now());
  }

  /** Returns the count without counting. */
  read(key: string, windowMs: number): WindowCount {
    const entry = this.#live(key);
    return entry === null
      ? { count: 0, endsAt: this.#now() + windowMs }
      : { count: countOf(entry), endsAt: entry.endsAt };
  }

  /** Merges the totals of another replica. */
  merge(replica: string, reports: readonly Report[]): void {
    const now = this.#now();
    for (const [key, endsAt, counted, takenBack = 0] of reports) {
      if (endsAt <= now || endsAt > now + WINDOW_MS_MAX) continue;
      const entry = this.#live(key) ?? this.#open(key, endsAt);
      entry.endsAt = Math.min(entry.endsAt, endsAt);
      entry.others ??= new Map();
      const merged = entry.others.get(replica) ?? { counted: 0, takenBack: 0 };
      entry.others.set(replica, {
        counted: Math.max(merged.counted, counted),
        takenBack: Math.max(merged.takenBack, takenBack),
      });
    }
  }

  /** Own counts that changed since the last call. */
  changes(): Report[] {
    const keys = this.#unreported;
    this.#unreported = new Set();
    return this.#report(keys);
  }

  /** All own counts of open windows, for a replica that has just started. */
  allOwnCounts(): Report[] {
    return this.#report(this.#entries.keys());
  }

  /** The counts of others by replica; a restarted replica gets its own earlier counts from it. */
  countsOfOthers(): Map<string, Report[]> {
    const byReplica = new Map<string, Report[]>();
    const now = this.#now();
    for (const [key, { endsAt, others }] of this.#entries) {
      if (others === null || endsAt <= now) continue;
      for (const [replica, counts] of others) {
        byReplica.getOrInsertComputed(replica, () => []).push(reportOf(key, endsAt, counts));
      }
    }
    return byReplica;
  }

  /** Removes windows that have ended. */
  sweep(): void {
    const now = this.#now();
    for (const [key, { endsAt }] of this.#entries) if (endsAt <= now) this.#entries.delete(key);
  }

  #report(keys: Iterable<string>): Report[] {
    const now = this.#now();
    const reports: Report[] = [];
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry !== undefined && entry.own.counted > 0 && entry.endsAt > now)
        reports.push(reportOf(key, entry.endsAt, entry.own));
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
    const entry: Entry = { endsAt, own: { counted: 0, takenBack: 0 }, others: null };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Removes the windows that were opened first. */
  #makeRoom(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size < this.#entriesMax) return;
      this.#entries.delete(key);
    }
  }
}

function countOf({ own, others }: Entry): number {
  let count = netOf(own);
  if (others !== null) for (const one of others.values()) count += netOf(one);
  return count;
}

function netOf({ counted, takenBack }: Counts): number {
  return Math.max(0, counted - takenBack);
}

function reportOf(key: string, endsAt: number, { counted, takenBack }: Counts): Report {
  return takenBack === 0 ? [key, endsAt, counted] : [key, endsAt, counted, takenBack];
}
