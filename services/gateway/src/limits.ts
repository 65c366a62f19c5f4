/** Bounds that only the gateway keeps, each with its reason. What clients meet as a rule stands in @wts/contracts. */
export const EDGE_LIMITS = {
  /** Bodies held at once, of all callers, one network and one caller: they are read to their end before a service is asked. */
  bodyBytesOfAllMax: 256 * 1024 * 1024,
  bodyBytesOfNetworkMax: 64 * 1024 * 1024,
  bodyBytesOfCallerMax: 32 * 1024 * 1024,
  /** Requests of one caller under way at once: no small number of callers may take all there is, however slow they are. */
  requestsOfCallerMax: 256,
  /** And of one network, whoever they are: half of what may be under way to a service (inFlightMax) is always left to others. */
  requestsOfNetworkMax: 2048,
  /** Likewise sockets: more than the devices of any person, or of a program that follows for many. */
  socketsOfCallerMax: 1024,
  /** Connections of one network that no credential speaks for, of all there are: setting CONNECTIONS_OF_NETWORK_PERCENT. */
  connectionsOfNetworkPercent: 25,
  /** One that asked for nothing for so long gives way where there is no room; longer than any client thinks between two requests of one page. */
  connectionIdleMs: 5_000,
  /**
   * Connections to one upstream process. A bootstrap holds one for as long as its client reads; all that a process serves
   * at once (LIMITS.snapshotAnswersMax) leave some for everybody else.
   */
  connectionsMax: 2560,
  /** Requests running or waiting per upstream. Above it waiting would only grow: answer 503 instead. */
  inFlightMax: 4096,
  /** A dead address must not cost a caller more than this before the next one is tried. */
  connectTimeoutMs: 2_000,
  /** Until an upstream has sent its status line. Above what services allow themselves (10 s), below what clients wait. */
  upstreamHeadersTimeoutMs: 20_000,
  /** Silence inside an upstream's body. */
  upstreamBodyTimeoutMs: 60_000,
  /** A connection on which nothing moves in either direction for so long is dead, whatever state it is in. */
  silenceMs: 120_000,
  /** A client that takes nothing for so long is cut, because its answer holds an upstream connection. */
  readerStalledMs: 30_000,
  /** After refusing an upgrade: how long to read and drop what is still coming, so that the answer is not lost to a reset. */
  lingerMs: 1_000,
  /** Handshakes with services under way. Thousands of clients that come back at once wait here, not in front of others. */
  handshakesAtOnce: 64,
  /** One who has waited longer for theirs is told to come again. */
  handshakeWaitMs: 10_000,
  /** A spliced socket whose one half ended gets so long for the other. */
  halfOpenMs: 5_000,
  /** Upgrade refusals of an upstream are passed on up to this size. */
  refusalBytesMax: 64 * 1024,
  /** Least time between Deprecation and Sunset: section 8 of the specification. */
  deprecationNoticeDays: 90,
  /** Browsers may remember a preflight for so long. */
  preflightSeconds: 600,
} as const;
