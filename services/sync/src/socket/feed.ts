import { LIMITS } from '@wts/contracts';
import type { Entry, EntryRange } from '@wts/log';
import { type GroupsWithGains, type Reader, Visibility } from '@wts/read-model';
import { ENTRY_FORMATTERS, type ActionSpelling } from '../deltas/action-spelling.ts';
import { walk } from '../deltas/walk.ts';
import type { FairGate, LoopTurns } from '@wts/service-kit/fairness';
import type { Hub } from '../hub/hub.ts';
import { PacketWriter, Packets, type Packet } from '../hub/packet.ts';
import type { RingChunk } from '../hub/ring.ts';
import type { GroupListeners, GroupListener } from './group-listeners.ts';
import type { GroupReads } from './group-reads.ts';
import type { Puller, Rounds, SharedPackets } from './rounds.ts';

/** Shared by the feeds of one replica. */
export interface FeedSources {
  readonly hub: Hub;
  readonly rounds: Rounds;
  readonly groupListeners: GroupListeners<GroupListener>;
  readonly groupReads: GroupReads;
  /** Reads a page of entries and the floor of the log, in one snapshot. */
  readonly readEntries: (range: EntryRange) => Promise<{ readonly entries: readonly Entry[]; readonly floor: bigint }>;
  readonly gate: FairGate;
  readonly turns: LoopTurns;
}

/** The part of a session that a feed uses. */
export interface FeedSocket {
  /** True while too much of what was sent is not received yet. */
  readonly isFull: boolean;
  send(packet: Packet): void;
  /** The log no longer has the entries after the client's cursor. */
  requireBootstrap(): void;
  fail(error: unknown): void;
}

export interface FeedStart {
  readonly reader: Reader;
  readonly after: bigint;
  readonly spelling: ActionSpelling;
  /** Groups to narrow to; empty for all. */
  readonly requested: ReadonlySet<string>;
  /** Exact up to `after` at least. */
  readonly known: GroupsWithGains;
}

/**
 * Entries read at a time. Pages grow while the client receives all of a page, and shrink when it does not, so that thousands of
 * sockets that catch up on large entries do not hold pages they cannot send.
 */
const PAGE_MIN = 16;
const PAGE_FIRST = 64;
const PAGE_MAX = 512;
/**
 * How much of the ring is prepared at a time for one client: as much as the client may leave unreceived, because the whole ring for
 * each of thousands of clients would not fit into memory.
 */
const BYTES_AT_A_TIME_MAX = LIMITS.socketUnsentBytesMax;

/**
 * Sends one subscription its entries. A feed has a cursor, and the groups that its reader may see after the cursor.
 *
 * A feed whose cursor is older than the ring reads pages of the log. Within the ring it takes shared packets. At the horizon it
 * is *live*: it has no cursor of its own, because it listens to each of its groups, so a chunk that did not wake it has nothing
 * for it, and its position is the hub's horizon. The first chunk that wakes it sets its cursor again, to the position before that
 * chunk.
 *
 * Invariants: the entries sent ascend strictly; the `lastSyncId` of a packet is never above an entry that is still to be
 * sent; and entries after a gain or loss are never checked with groups read before it, because otherwise entries of a lost
 * group would be sent after its loss. Groups of a later position are safe.
 *
 * Keeps sync.socket.catch-up, sync.socket.ascending and sync.socket.echo: the author of a change gets it like any reader.
 * Keeps sync.socket.own-groups, sync.membership.in-order.
 */
export class Feed implements GroupListener, Puller {
  readonly #sources: FeedSources;
  readonly #socket: FeedSocket;
  readonly #reader: Reader;
  readonly #spelling: ActionSpelling;
  readonly #requested: ReadonlySet<string>;
  #page = PAGE_FIRST;
  #visibility: Visibility;
  #cursor: bigint;
  #isLive = false;
  #isBusy = false;
  /** True when `turns` gave this feed a turn of the event loop, for BYTES_AT_A_TIME_MAX. */
  #hasTurn = false;
  readonly #ending = new AbortController();
  /** The groups must be read again before anything more is sent. */
  #mustReadGroups = false;

  constructor(sources: FeedSources, socket: FeedSocket, { reader, after, spelling, requested, known }: FeedStart) {
    this.#sources = sources;
    this.#socket = socket;
    this.#reader = reader;
    this.#spelling = spelling;
    this.#requested = requested;
    this.#cursor = after;
    this.#visibility = new Visibility(reader, known, requested);
    sources.groupListeners.set(this, reader, known);
  }

  /** The groups that the `subscribed` frame lists. */
  get groups(): ReadonlySet<string> {
    return this.#visibility.reachable;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** All entries for this feed up to this position have been sent. */
  get position(): bigint {
    return this.#isLive ? this.#sources.hub.last : this.#cursor;
  }

  get #isEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Starts, or continues after the client has received what was sent. */
  resume(): void {
    if (!this.#isEnded && !this.#isBusy && !this.#isLive) this.#sources.rounds.enqueue(this);
  }

  end(): void {
    this.#ending.abort(new Error('The subscription ended'));
    this.#sources.groupListeners.remove(this, this.#reader);
  }

  /** Reads the groups again, because a revocation outside the log changed them. */
  recheckGroups(): void {
    this.#mustReadGroups = true;
    this.#cursor = this.position;
    this.#isLive = false;
    this.resume();
  }

  wake(chunk: RingChunk): void {
    if (this.#isLive) {
      this.#isLive = false;
      this.#cursor = chunk.prev;
    }
    if (!this.#isBusy && !this.#socket.isFull) this.#sources.rounds.enqueue(this);
  }

  pull(horizon: bigint, shared: SharedPackets): void {
    if (this.#isEnded || this.#isBusy || this.#isLive || this.#socket.isFull) return;
    try {
      if (this.#mustReadGroups) {
        void this.#whileBusy(() => this.#readGroups(this.#cursor));
        return;
      }
      // The client got its cursor from a replica that is ahead of this one, so the feed waits.
      if (this.#cursor > horizon) return;
      const chunks = this.#sources.hub.since(this.#cursor);
      if (chunks === null) {
        void this.#whileBusy(() => this.#catchUp());
        return;
      }
      if (!this.#hasTurn && isFarBehind(chunks)) {
        void this.#whileBusy(async () => {
          await this.#sources.turns.take(this.#reader.userId, BYTES_AT_A_TIME_MAX);
          this.#hasTurn = true;
        });
        return;
      }
      this.#hasTurn = false;
      this.#sendFromRing(chunks, horizon, shared);
    } catch (error) {
      this.#socket.fail(error);
    }
  }

  #sendFromRing(chunks: readonly RingChunk[], horizon: bigint, shared: SharedPackets): void {
    const range = chunks.filter(({ last }) => last <= horizon);
    const differsByReader = ({ withGainOrLoss, groups }: RingChunk): boolean =>
      withGainOrLoss.has(this.#reader.userId) || this.#visibility.mustFilterEntries(groups);
    // A range may have megabytes; the rest is sent in later turns.
    const first = firstBytesOf(range);
    const end = first.length < range.length ? (first.at(-1)?.last ?? horizon) : horizon;
    if (first.some(differsByReader)) {
      const entries = first.flatMap((chunk) => chunk.entries);
      const change = this.#walk(entries, end);
      if (change !== null) {
        void this.#whileBusy(() => this.#readGroups(change));
        return;
      }
    } else {
      this.#sendAll(this.#sharedPackets(first, end, shared), end);
    }
    if (this.#socket.isFull) return;
    if (this.#cursor === this.#sources.hub.last) this.#isLive = true;
    else this.#sources.rounds.enqueue(this);
  }

  /** The packets of a range without a gain or loss; feeds that see the same groups of the range share them. */
  #sharedPackets(range: readonly RingChunk[], upTo: bigint, shared: SharedPackets): Iterable<Packet> {
    // The range has no gain, so each group was gained before the whole range or after it.
    const next = this.#cursor + 1n;
    const groups = new Set<string>();
    const matching = range.filter((chunk) => {
      const shown = [...chunk.groups].filter((group) => this.#visibility.allowsGroup(group, next));
      for (const group of shown) groups.add(group);
      return shown.length > 0;
    });
    const first = matching[0];
    if (first === undefined) return [];
    const after = this.#cursor > first.prev ? this.#cursor : first.prev;
    const key = `${this.#spelling} ${after} ${upTo} ${[...groups].join(' ')}`;
    let packets = shared.get(key);
    if (packets === undefined) {
      const entries = matching.flatMap((chunk) => chunk.entries);
      const wanted = entries.filter(({ id, groupId }) => id > after && groups.has(groupId));
      packets = new Packets(packed(wanted, this.#spelling, upTo));
      shared.set(key, packets);
    }
    return packets;
  }

  /**
   * Sends the entries that are for this feed, up to `upTo`. Stops before a gain or loss later than its groups, and returns that
   * position.
   */
  #walk(entries: readonly Entry[], upTo: bigint): bigint | null {
    const writer = new PacketWriter();
    const take = (id: bigint, text: string): boolean => {
      writer.add(id, text);
      return true;
    };
    const [visibility, spelling, after] = [this.#visibility, this.#spelling, this.#cursor];
    const { reached, before, needs } = walk(entries, { visibility, spelling, after, upTo, take });
    if (needs === 'load') {
      this.#socket.requireBootstrap();
      return null;
    }
    const end = before === undefined ? upTo : reached;
    this.#sendAll(writer.finish(end), end);
    return this.#socket.isFull ? null : (before ?? null);
  }

  /** Sends as much as the client receives, and advances the cursor to where it stopped. */
  #sendAll(packets: Iterable<Packet>, upTo: bigint): void {
    for (const packet of packets) {
      if (this.#socket.isFull) return;
      this.#socket.send(packet);
      this.#cursor = packet.last;
    }
    this.#cursor = upTo;
  }

  async #catchUp(): Promise<void> {
    const { hub, gate } = this.#sources;
    const { signal } = this.#ending;
    while (!this.#isEnded && !this.#socket.isFull && !this.#mustReadGroups && hub.since(this.#cursor) === null) {
      const change = await gate.run(this.#reader.userId, { signal, isLarge: true }, () => this.#sendPage());
      if (change !== null) await this.#readGroups(change);
    }
  }

  /**
   * Reads a page and sends it. A function of its own, called within the gate, because otherwise each of thousands of feeds
   * that wait for the gate would keep its last page in memory.
   */
  async #sendPage(): Promise<bigint | null> {
    if (this.#isEnded) return null;
    const after = this.#cursor;
    const horizon = this.#sources.hub.last;
    const page = this.#page;
    const range = { groups: this.#visibility.groupsToRead, after, limit: page, upTo: horizon };
    const { entries, floor } = await this.#sources.readEntries(range);
    if (this.#isEnded) return null;
    if (after < floor) {
      this.#socket.requireBootstrap();
      return null;
    }
    const upTo = entries.length < page ? horizon : (entries.at(-1)?.id ?? horizon);
    const change = this.#walk(entries, upTo);
    this.#page = this.#socket.isFull ? Math.max(PAGE_MIN, page / 2) : Math.min(PAGE_MAX, page * 2);
    return change;
  }

  /** Reads groups that are exact up to this position at least. */
  async #readGroups(position: bigint): Promise<void> {
    this.#mustReadGroups = false;
    const { groupReads, groupListeners } = this.#sources;
    const known = await groupReads.read(this.#reader, position, this.#ending.signal);
    if (this.#isEnded) return;
    this.#visibility = new Visibility(this.#reader, known, this.#requested);
    groupListeners.set(this, this.#reader, known);
  }

  async #whileBusy(work: () => Promise<void>): Promise<void> {
    this.#isBusy = true;
    try {
      await work();
    } catch (error) {
      if (!this.#isEnded) this.#socket.fail(error);
    } finally {
      this.#isBusy = false;
    }
    if (!this.#socket.isFull) this.resume();
  }
}

function* packed(entries: readonly Entry[], spelling: ActionSpelling, upTo: bigint): Generator<Packet> {
  const writer = new PacketWriter();
  const { text } = ENTRY_FORMATTERS[spelling];
  for (const entry of entries) {
    writer.add(entry.id, text(entry));
    yield* writer.full();
  }
  yield* writer.finish(upTo);
}

/** True for a feed that catches up within the ring, not for one that follows the newest entries. */
function isFarBehind(chunks: readonly RingChunk[]): boolean {
  let bytes = 0;
  return chunks.some((chunk) => (bytes += chunk.bytes) > BYTES_AT_A_TIME_MAX);
}

function firstBytesOf(chunks: readonly RingChunk[]): readonly RingChunk[] {
  let bytes = 0;
  const end = chunks.findIndex((chunk) => (bytes += chunk.bytes) > BYTES_AT_A_TIME_MAX);
  return end === -1 ? chunks : chunks.slice(0, end + 1);
}
