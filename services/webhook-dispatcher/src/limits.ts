/** The bounds of the dispatcher, with their reasons. */
export const DISPATCH = {
  /** An attempt is over after this, whatever the consumer does. */
  attemptMs: 10_000,
  /** The lanes of a replica belong to it for so long after its last sign; then others go on with them. */
  leaseMs: 8_000,
  /** An attempt begins only when the lease lasts so much longer. One that outlives its lease may be made twice, never overtaken. */
  leaseSlackMs: 3_000,
  /** How long a replica counts attempts in a lane that it took over from one that ended. */
  recoveringMs: 30_000,
  /** A lane without work goes back after this; until then new work costs no claim. */
  laneIdleMs: 60_000,
  /** How often a replica looks for due lanes and lost wakes. */
  pollMs: 500,
  /** Lanes that one statement claims, reads or renews, and that one process holds: a few KiB each. */
  lanesAtOnce: 256,
  lanesMax: 20_000,
  /** First attempts read ahead for each lane; and all of a process: beyond it lanes read one at a time. */
  windowRows: 50,
  windowBytes: 256 * 1024,
  windowsBytesMax: 64 * 1024 * 1024,
  /** Of one statement, which the lanes of all other owners wait for. */
  readLanes: 32,
  readRows: 200,
  readBytes: 1024 * 1024,
  /** Settings of an endpoint are no older than this when an attempt begins. */
  settingsAgeMs: 1_000,
  /** A lane pauses for so long after it could not be read, and while a secret of its endpoint cannot be unsealed. */
  laneRetryMs: 500,
  sealedMs: 30_000,
  /** Between two attempts whose outcome PostgreSQL refuses: the consumer receives the same event each time. */
  refusedMs: 5_000,
  /**
   * Attempts of a delivery in turn whose processes ended before they recorded them; the next one counts as failed and sends
   * nothing. The first is not counted (`countBegun`), so a delivery that ends its process does so three times.
   */
  unrecordedAttemptsMax: 2,
  /** Retries of an endpoint at once, and how far apart they begin: an endpoint that comes back is not flooded with its past. */
  retriesAtOnce: 2,
  retryPaceMs: 20,
  /** Attempts whose outcome is not yet in PostgreSQL; beyond it no new attempt begins. */
  outcomesMax: 10_000,
  outcomesAtOnce: 500,
  outcomesGatherMs: 5,
  outcomeRetryMs: 250,
  /** Attempts of a process at once: of quick endpoints, of slow ones, and of those of unknown pace. */
  quickSlots: 512,
  slowSlots: 128,
  unknownSlots: 64,
  /** Attempts of endpoints that are not quick begin so many at a time: each needs a connection, whose keys cost milliseconds of CPU. */
  startsAtOnce: 4,
  startMs: 20,
  /** An attempt gives its quick or unknown slot and that of its origin back after this; all together there are so many. */
  quickMs: 1_000,
  slotsMax: 2_048,
  /** Of one origin, and of the slow and unknown ones among them. */
  originSlots: 16,
  originSlowSlots: 4,
  /** An endpoint is slow while nine of ten of its last attempts do not all end within this. */
  slowMs: 2_000,
  durationsKept: 10,
  /** After one attempt longer than this it is slow for so long, or until `durationsKept` attempts in a row end in time. */
  hangingMs: 5_000,
  hangingSlowMs: 60_000,
  /** What is in progress at SIGTERM has this long beyond the time of an attempt to be recorded. */
  drainSlackMs: 2_000,
} as const;

export type DispatchLimits = Readonly<Record<keyof typeof DISPATCH, number>>;

/** Requests of people, which have connections to PostgreSQL of their own, so that no number of them delays a delivery. */
export const MANAGEMENT = {
  connections: 4,
  /** Requests of one person that use a connection; the other half is for other people. */
  ofPersonAtOnce: 2,
  /** As many as the gateway lets one caller have in parallel. */
  ofPersonWaitingMax: 256,
  /** What a call between services may take. */
  waitMs: 10_000,
  /** Test events of one endpoint that wait to be sent. */
  testsMax: 20,
  /** Failed deliveries that one replay queues again. */
  replayMax: 100_000,
} as const;
