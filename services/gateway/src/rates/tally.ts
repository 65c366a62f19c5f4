/** How often something was counted in its window, by all replicas together, and when the window ends (Unix ms). */
export interface Standing {
  readonly count: number;
  readonly endsAt: number;
}

/** What one replica counted by itself: key, end of the window, how many it counted and took back so far. */
export type Report = readonly [key: string, endsAt: number, counted: number, takenBack?: number];

/** Both only grow, so that of two reports the larger numbers are the newer ones. */
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

/** One event that was counted. */
export interface Count {
  /** With it. */
  readonly standing: Standing;
  /** Where it stands when everything that the other replicas have counted by now came before it. */
  readonly place: () => number;
  /** It shall not count. Nothing happens the second time. */
  readonly takeBack: () => void;
}

/** Each takes about 200 bytes. Beyond it the oldest is forgotten: memory is bounded, whoever sends from everywhere. */
const ENTRIES_MAX = 100_000;
/** Longer windows than any policy has are somebody's mistake or a clock far off. */
export const WINDOW_MS_MAX = 60 * 60 * 1000;
/** A replica that said nothing for so long is gone; each says something every 10 s. */
const PEER_MS = 25_000;
const PEERS_MAX = 256;

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
  /** Other replicas, and when each was last there. */
  readonly #peers = new Map<string, number>();

  constructor(now: () => number = Date.now, entriesMax = ENTRIES_MAX) {
    this.#now = now;
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts one more. */
  add(key: string, windowMs: number): Count {
    const entry = this.#live(key) ?? this.#open(key, this.#now() + windowMs);
    entry.own.counted += 1;
    this.#unreported.add(key);
    const place = netOf(entry.own);
    let counts = true;
    return {
      standing: { count: countOf(entry), endsAt: entry.endsAt },
      place: () => place + countOf(entry) - netOf(entry.own),
      takeBack: () => {
        if (!counts) return;
        counts = false;
        entry.own.takenBack += 1;
        this.#unreported.add(key);
      },
    };
  }

  /** How many replicas count together, this one among them. */
  get replicas(): number {
    const gone = this.#now() - PEER_MS;
    for (const [replica, at] of this.#peers) if (at < gone) this.#peers.delete(replica);
    return 1 + this.#peers.size;
  }

  /** A sign of life of another replica. */
  meet(replica: string): void {
    if (this.#peers.size < PEERS_MAX || this.#peers.has(replica)) this.#peers.set(replica, this.#now());
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
    for (const [key, endsAt, counted, takenBack = 0] of reports) {
      if (endsAt <= now || endsAt > now + WINDOW_MS_MAX) continue;
      const entry = this.#live(key) ?? this.#open(key, endsAt);
      entry.endsAt = Math.min(entry.endsAt, endsAt);
      entry.others ??= new Map();
      const known = entry.others.get(replica) ?? { counted: 0, takenBack: 0 };
      entry.others.set(replica, {
        counted: Math.max(known.counted, counted),
        takenBack: Math.max(known.takenBack, takenBack),
      });
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
      for (const [replica, counts] of others) {
        const reports = byReplica.get(replica) ?? [];
        reports.push(reportOf(key, endsAt, counts));
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
      if (entry !== undefined && entry.own.counted > 0 && entry.endsAt > now) {
        reports.push(reportOf(key, entry.endsAt, entry.own));
      }
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

  /** In the order of opening, so the first are the first to be over anyway. */
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
