/** Limits that only the gateway has, each with its reason. The limits of the public interface are in @wts/contracts. */
export const EDGE_LIMITS = {
  /** Bytes of bodies in memory, of all callers, one network and one caller: a body is complete before the service is called. */
  bodyBytesOfAllMax: 256 * 1024 * 1024,
  bodyBytesOfNetworkMax: 64 * 1024 * 1024,
  bodyBytesOfCallerMax: 32 * 1024 * 1024,
  /** Parallel requests of one caller, so that a few slow callers cannot use all of them. */
  requestsOfCallerMax: 256,
  /** Parallel requests of one network: half of inFlightMax is always left for other networks. */
  requestsOfNetworkMax: 2048,
  /** Sockets of one caller: more than the devices of a person, and enough for a program that follows for many people. */
  socketsOfCallerMax: 1024,
  /** Share of all connections that one network may hold without a credential: setting CONNECTIONS_OF_NETWORK_PERCENT. */
  connectionsOfNetworkPercent: 25,
  /** A connection without a request for so long may be closed for a new one; longer than the pause between requests of a page. */
  connectionIdleMs: 5_000,
  /**
   * Connections to one upstream process. A bootstrap holds one while its client reads; the bootstraps that a process serves
   * in parallel (SYNC_LIMITS.snapshotAnswersMax) leave connections for other requests.
   */
  connectionsMax: 2560,
  /** Requests running or waiting per upstream; more get 503, because the queue would only grow. */
  inFlightMax: 4096,
  /** How long to connect to an address before the next one is tried. */
  connectTimeoutMs: 2_000,
  /** Until an upstream sends its status line: above the limit in services (10 s), below the timeout of clients. */
  upstreamHeadersTimeoutMs: 20_000,
  /** Longest pause inside the body of an upstream. */
  upstreamBodyTimeoutMs: 60_000,
  /** A connection without bytes in either direction for so long is closed, in any state. */
  silenceMs: 120_000,
  /** A client that reads nothing of its answer for so long is disconnected, because it holds an upstream connection. */
  readerStalledMs: 30_000,
  /** After a refused upgrade: how long to read and drop bytes, so that a TCP reset does not discard the answer. */
  lingerMs: 1_000,
  /** Parallel handshakes per address. In a reconnect storm the others wait in the gateway, and do not delay requests. */
  handshakesAtOnce: 64,
  /** A client that waited longer for its handshake gets 503 with Retry-After. */
  handshakeWaitMs: 10_000,
  /** How long the second half of a spliced socket may stay open after the first has ended. */
  halfOpenMs: 5_000,
  /** Largest body of a refused upgrade that is forwarded. */
  refusalBytesMax: 64 * 1024,
  /** Least time between Deprecation and Sunset: section 8 of the specification. */
  deprecationNoticeDays: 90,
  /** How long browsers may cache a preflight. */
  preflightSeconds: 600,
} as const;
