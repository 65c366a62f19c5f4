/** Bounds that only the gateway keeps, each with its reason. What clients meet as a rule stands in @wts/contracts. */
export const EDGE_LIMITS = {
  /** Bodies up to this size are collected before an upstream connection is taken: slow senders then hold no upstream. */
  collectBytesMax: 64 * 1024,
  /** Connections to one upstream process; a long bootstrap holds one for its whole length. */
  connectionsMax: 512,
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
  /** After refusing a body: how long to read and drop what is still coming, so that the answer is not lost to a reset. */
  lingerMs: 1_000,
  /** First pause of an address that refused a connection; doubles up to the second figure. */
  ejectMs: 500,
  ejectMsMax: 15_000,
  socketsMax: 20_000,
  /** A spliced socket whose one half ended gets so long for the other. */
  halfOpenMs: 5_000,
  /** Upgrade refusals of an upstream are passed on up to this size. */
  refusalBytesMax: 64 * 1024,
  /** Least time between Deprecation and Sunset: section 8 of the specification. */
  deprecationNoticeDays: 90,
  /** Browsers may remember a preflight for so long. */
  preflightSeconds: 600,
} as const;
