/** Bounds that every service has by this package, each with its reason. Settings have these as defaults. */
export const SERVICE_LIMITS = {
  /** Larger bodies are admitted in turns by person, in services with a `BodyAdmission`. */
  bodyBytesLarge: 64 * 1024,
  /** Of a body without a declared length: so many chunks take 40 ms of the event loop, and of bytes alone a body could have millions. */
  bodyChunksMax: 20_000,
  /** Above the idle time of common load balancers (60 s), so the balancer closes first. */
  keepAliveTimeoutMs: 65_000,
  /** How long the reply to a connection over the bound may take; then the connection is destroyed. */
  connectionRefusalMs: 2_000,
  /** Delay of a refusal: 240 clients that retry immediately would otherwise send thousands of requests a second. */
  refusalPauseMs: 500,
  /** Connections that the kernel queues until the process accepts them, in a reconnect storm. The maximum of Linux. */
  connectionsBacklog: 4096,
  /** Requests without a reply of one connection of another service, which sends one at a time; it is closed above. */
  pipelinedRequestsMax: 64,
  /**
   * Parts of a chunked body that contains blank lines: so large that it takes little more time than others, and so small that after its end at
   * most 58 requests of 18 bytes, which is the least, are parsed together.
   */
  pipelinedBytesMin: 1024,
  /**
   * A public connection whose client closed its side ends after so long without a byte. Nearly every reply takes less, and nearly every
   * such client has gone, so its work should end.
   */
  halfClosedMs: 1_000,
  /** Connections with further requests that proceed in one turn of the event loop: a few milliseconds of work. */
  pipelinedTurns: 16,
  /** How often the names of services are resolved: a new replica gets requests, a removed one none, within seconds. */
  addressRefreshMs: 5_000,
  addressesOfNameMax: 256,
  /**
   * An address that is silent for so long while requests wait gets a health check of so long; its requests fail with it. So a
   * process that hangs delays its callers by seconds.
   */
  addressQuietMs: 2_000,
  addressProbeMs: 2_000,
  /** Its sockets are closed later: the clients of a process that is only slow would all reconnect to it. */
  addressGoneMs: 15_000,
  addressWatchMs: 500,
  /** Deadline of a call to another service. */
  internalCallTimeoutMs: 10_000,
  /** `/ready` must reply before the timeout of the prober. */
  readyTimeoutMs: 1_500,
  /** Time for requests under way after SIGTERM. */
  drainMs: 10_000,

  /** A client that reads nothing of a reply for this long is disconnected; after the shorter time when memory is short. */
  answerStalledMs: 30_000,
  answerStalledTightMs: 3_000,

  /** The key of a request whose process ended expires after this; longer than any request may take. */
  idempotencyLeaseMs: 45_000,

  /** Share of the connections of a process; the rest is for requests. */
  socketsShare: 0.95,

  /** Concurrent look-ups of credentials of one network; its others wait, those of other networks do not. */
  lookUpsOfSenderMax: 16,
  /** About the connections of one network; a look-up that waits longer than a call may take gets 503 with Retry-After. */
  lookUpsWaitingOfSenderMax: 4096,
  lookUpWaitMs: 10_000,
} as const;
