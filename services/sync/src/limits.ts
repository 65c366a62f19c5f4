/** Limits that only this service has, each with its reason. Those that callers see are in @wts/contracts. */
export const SYNC_LIMITS = {
  /** Large bodies that are being received, of one person a quarter at most, and how long they may wait to be parsed. */
  bodiesBytesMax: 128 * 1024 * 1024,
  bodyWaitMs: 10_000,

  /** Replies to mutations that are not sent yet, in all; of one person a quarter. */
  mutateAnswersBytesMax: 128 * 1024 * 1024,
  /** A page of this size ends: it is in memory as a whole until it is sent. */
  deltasBytesMax: 2 * 1024 * 1024,
  /** Pages that are not sent yet: 96 of the largest, of one person a quarter. */
  pagesBytesMax: 192 * 1024 * 1024,
  /** How long the read of a page and the read of a socket may wait in a reconnect storm, and how many of each wait. */
  pageWaitMs: 8_000,
  socketReadWaitMs: 30_000,
  readsWaitingMax: 20_000,
  /** A longer snapshot would keep PostgreSQL from removing old rows. Clients read more in parts. */
  snapshotAgeMs: 60_000,
  /** Waiting snapshots; over it, the person with the most gets 503 with Retry-After. */
  snapshotQueueMax: 64,
  snapshotWaitMs: 10_000,
  /** Concurrent replies, which are served from a few shared snapshots. */
  snapshotAnswersMax: 2000,
  /** How long a finished snapshot is stored for further requests of the same. */
  snapshotKeptMs: 30_000,
  /** In a reconnect storm, a snapshot up to this age is shared despite later changes, which clients read as deltas. */
  snapshotSharedMs: 10_000,
  /** Snapshots up to these sizes, of one and of all, are in memory, larger ones on disk. */
  spoolMemoryBytes: 16 * 1024 * 1024,
  spoolsMemoryBytesMax: 192 * 1024 * 1024,
  spoolsDiskBytesMax: 2 * 1024 * 1024 * 1024,

  /** Fragments of a message, and network reads of a frame: each takes more time than its bytes. */
  socketFragmentsMax: 256,
  socketChunksMax: 1024,
  /**
   * Unsent bytes of all sockets of a process; above it, the smaller bounds of bytes and time hold for each socket, so that
   * thousands of clients that do not read cannot fill the memory within the time of one.
   */
  socketsUnsentBytesMax: 256 * 1024 * 1024,
  socketUnsentBytesTight: 64 * 1024,
  socketStalledTightMs: 3_000,
  /** Size of a packet; larger ones would delay their first entry. */
  socketPacketBytesMax: 64 * 1024,
  /** Frames a client may send in each window. Subscribing needs queries, so it counts for many. */
  socketFramesPerWindow: 500,
  socketSubscribeCostsFrames: 25,
  socketFramesWindowMs: 10_000,
  /** Time for the client to read the error frame and reply to the close, then the connection is destroyed. */
  socketClosingMs: 3_000,

  /** Chunks that wait for a slow broker; over it the relay reads the log. */
  relayBacklogBytesMax: 8 * 1024 * 1024,

  /** Records whose rank one placement changes; with those, it is one small commit. */
  placementMovedMax: 50,
  /** Mutations of a batch while others wait: 50-200 already give 80 % of the gain, and two requests of 50 fit. */
  commitBatchMutations: 128,
  /** Size of a batch, in entries of a kilobyte: larger ones gain nothing, and others wait longer. */
  commitBatchWeight: 1024,
  /** Deadline of a change, including its time in the queue: clients do not wait longer. */
  commitDeadlineMs: 10_000,
  /** A passed deadline cancels a batch only after it has run this long, because it may wait some seconds for a lock. */
  commitBatchMs: 6_000,
  /** All waiting mutations, and the size of their payloads. */
  commitQueueMutationsMax: 20_000,
  commitQueueBytesMax: 64 * 1024 * 1024,
  /** People and workspaces that a replica caches between commits, and the memberships of one person in the cache. */
  commitMemoryEntriesMax: 2_000,
  commitMemoryRowsMax: 32,
  /** Memberships of a person that are read with each change; of a person with more, only the one that is needed. */
  commitMembershipsReadMax: 100,
  /**
   * Records of a cascade that are changed in one commit. Of a larger cascade, the commit changes only the record itself, and a
   * sweep changes the rest in steps of this size, which take some 50 ms each.
   */
  cascadeRecordsMax: 500,
  cascadeRecordsBytesMax: 4 * 1024 * 1024,
  /** Levels of records of one model that are read one after the other. */
  cascadeLevelsMax: 8,
  /** All cascades of a batch together. */
  cascadeBatchRecordsMax: 3000,
  cascadeBatchBytesMax: 8 * 1024 * 1024,
  /** Ids that a sweep reads at a time, and those of one step, which also counts the records below them. */
  sweepIdsMax: 10_000,
  sweepStepIdsMax: 200,
  /** After this long, another replica continues a sweep whose replica stopped. */
  sweepLeaseMs: 15_000,
  /** How often replicas look for sweeps to continue. */
  sweepEveryMs: 1_000,
  /** How often replicas read which workspaces are deleted: a change in one that a replica does not know needs a second try. */
  archivedWorkspacesEveryMs: 2_000,
  /** The longest pause between two steps of a purge, which otherwise takes a quarter of the time. */
  purgePauseMsMax: 2_000,
  /** How often replicas look for records whose time in the Trash is over: retention is counted in days. */
  purgeEveryMs: 60_000,
  /** How often replicas look for repeating tasks whose day has begun, and in zones whose day begins before that of others. */
  repeatEveryMs: 10_000,
  repeatAheadEveryMs: 30_000,
  /** Tasks that the scheduler passes to the engine at a time, which divides them over batches while people wait. */
  repeatTasksMax: 256,
  /** The newest tasks of a series among which the open ones are counted: a series of years has thousands. */
  repeatOpenAmong: 100,
  /** Items of a checklist that are copied to the next task; with more, the series stops and says so. */
  repeatChecklistItemsMax: 500,
  /** Levels of a thread: each new comment counts the ones above it. */
  commentDepthMax: 32,
  /** Entries of one unit, and records that it may read to find them: it holds the locks of all until commit. */
  unitEntriesMax: 10_000,
  /** Bytes of text that one unit reads of one model, or writes: a move of this size takes PostgreSQL seconds. */
  unitTextBytesMax: 32 * 1024 * 1024,
} as const;
