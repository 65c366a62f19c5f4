/**
 * Every bound of the system that affects callers or operators, with its reason. Settings have these as defaults; contracts and code
 * read them from here. The lengths of single fields are in their schemas, and a number of one file, such as a pause between
 * retries, is a constant of that file. Units are last in the name. infra/tidy refuses a bound that no code reads, and each queue,
 * cache and buffer has a test that fills it: keeps never.unbounded.
 */
export const LIMITS = {
  /** REST bodies are as small as a form. */
  bodyBytes: 1024 * 1024,
  /** A form, or the metadata of a client. */
  formBytes: 16 * 1024,
  /** 100 transactions of the largest records fit. */
  mutateBodyBytes: 4 * 1024 * 1024,
  /** Larger bodies are admitted in turns by person, in services with a `BodyAdmission`. */
  bodyBytesLarge: 64 * 1024,
  /** Large bodies that are being received, of one person a quarter at most, and how long they may wait to be parsed. */
  bodiesBytesMax: 128 * 1024 * 1024,
  bodyWaitMs: 10_000,
  /** Deeper JSON only serves to exhaust the stack. */
  jsonDepth: 64,
  /** Twice the values of 100 of the largest records. A value takes as much time as hundreds of characters. */
  jsonValuesMax: 20_000,
  headerBytes: 16 * 1024,
  headerCount: 100,
  urlBytes: 8 * 1024,
  /** Time to send all headers, then the whole request: a slow sender must not hold a socket. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  /** Above the idle time of common load balancers (60 s), so the balancer closes first. */
  keepAliveTimeoutMs: 65_000,
  /** Connections of one process, which may open about 20 000 files by default. */
  connectionsMax: 18_000,
  /** A service does not start with fewer. */
  connectionsMin: 64,
  /** Files for all but connections of callers: database connections, spools, the program itself. */
  filesReserved: 256,
  /** Connections over the bound that get 503, as a share of the bound; more are closed without a reply. */
  connectionsRefusedShare: 0.05,
  connectionRefusalMs: 2_000,
  retryAfterSecondsMax: 5,
  /** Delay of a refusal: 240 clients that retry immediately would otherwise send thousands of requests a second. */
  refusalPauseMs: 500,
  /** Connections that the kernel queues until the process accepts them, in a reconnect storm. The maximum of Linux. */
  connectionsBacklog: 4096,
  /**
   * Requests of one connection without a reply. They are parsed one at a time, except after the end of a body, where the parts have
   * at least so many bytes, so that a body of blank lines takes no more time than others.
   */
  pipelinedRequestsMax: 64,
  pipelinedBytesMin: 2048,
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

  mutateTransactionsMax: 100,
  /** Replies to mutations that are not sent yet, in all; of one person a quarter. */
  mutateAnswersBytesMax: 128 * 1024 * 1024,
  deltasLimitDefault: 1000,
  deltasLimitMax: 5000,
  /** A page of this size ends: it is in memory as a whole until it is sent. */
  deltasBytesMax: 2 * 1024 * 1024,
  /** Pages that are not sent yet: 96 of the largest, of one person a quarter. */
  pagesBytesMax: 192 * 1024 * 1024,
  /** How long the read of a page and the read of a socket may wait in a reconnect storm, and how many of each wait. */
  pageWaitMs: 8_000,
  socketReadWaitMs: 30_000,
  readsWaitingMax: 20_000,
  batchRequestsMax: 100,
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
  /** A client that reads nothing of a reply for this long is disconnected; after the shorter time when memory is short. */
  answerStalledMs: 30_000,
  answerStalledTightMs: 3_000,
  /** Snapshots up to these sizes, of one and of all, are in memory, larger ones on disk. */
  spoolMemoryBytes: 16 * 1024 * 1024,
  spoolsMemoryBytesMax: 192 * 1024 * 1024,
  spoolsDiskBytesMax: 2 * 1024 * 1024 * 1024,
  /** A repeated transaction of the same caller and device is recognized for this long. */
  idempotencyDays: 30,

  /** The reply of an Idempotency-Key is stored for a day: longer than clients retry. */
  idempotencyKeptMs: 24 * 60 * 60 * 1000,
  /** The key of a request whose process ended expires after this; longer than any request may take. */
  idempotencyLeaseMs: 45_000,

  socketFrameBytesMax: 64 * 1024,
  /** Groups in one subscription; a person with more subscribes to all of them. */
  socketGroupsMax: 1_000,
  /** Fragments of a message, and network reads of a frame: each takes more time than its bytes. */
  socketFragmentsMax: 256,
  socketChunksMax: 1024,
  socketSubscribeTimeoutMs: 10_000,
  socketPingMs: 30_000,
  socketWatermarkMs: 20_000,
  /** Above this a socket gets no further packets until it drains. */
  socketUnsentBytesMax: 256 * 1024,
  /** A socket that does not drain in this time is closed, and may resume. */
  socketStalledMs: 20_000,
  /**
   * Unsent bytes of all sockets of a process; above it, the smaller bounds of bytes and time hold for each socket, so that
   * thousands of clients that do not read cannot fill the memory within the time of one.
   */
  socketsUnsentBytesMax: 256 * 1024 * 1024,
  socketUnsentBytesTight: 64 * 1024,
  socketStalledTightMs: 3_000,
  socketPacketActionsMax: 100,
  /** Size of a packet; larger ones would delay their first entry. */
  socketPacketBytesMax: 64 * 1024,
  /** Frames a client may send in each window. Subscribing needs queries, so it counts for many. */
  socketFramesPerWindow: 500,
  socketSubscribeCostsFrames: 25,
  socketFramesWindowMs: 10_000,
  /** Time for the client to read the error frame and reply to the close, then the connection is destroyed. */
  socketClosingMs: 3_000,
  /** Share of the connections of a process; the rest is for requests. */
  socketsShare: 0.95,

  /** Recent chunks in memory per replica of sync, in bytes of heap. */
  ringBytesMax: 64 * 1024 * 1024,
  ringAgeMs: 60_000,
  /** One JetStream message; a quarter of the server's default payload bound of 1 MB. */
  chunkBytesMax: 256 * 1024,
  /** Chunks that wait for a slow broker; over it the relay reads the log. */
  relayBacklogBytesMax: 8 * 1024 * 1024,

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
  /** Levels of a thread: each new comment counts the ones above it. */
  commentDepthMax: 32,
  /** Entries of one unit, and records that it may read to find them: it holds the locks of all until commit. */
  unitEntriesMax: 10_000,
  /** Bytes of text that one unit reads of one model, or writes: a move of this size takes PostgreSQL seconds. */
  unitTextBytesMax: 32 * 1024 * 1024,

  /** Section 8 of the specification: a field of the operation is level 1. */
  graphDepthMax: 10,
  /** Of a document: the largest of known clients has some 1500. Parsing takes a microsecond for each. */
  graphTokensMax: 5000,
  /** A text of that many tokens has some 50 000 characters with its blanks and comments. */
  graphDocumentCharsMax: 256 * 1024,
  /** Each alias may repeat the work of a field; a page of a client needs a few. */
  graphAliasesMax: 30,
  graphDirectivesMax: 50,
  /** Validation compares fields of the same name in pairs, and fragments too. */
  graphRepeatsMax: 50,
  graphFragmentsMax: 100,
  /** Fields at the first level: each is a list of its own, or a commit of its own. */
  graphQueryFieldsMax: 20,
  graphMutationFieldsMax: 10,
  /** Fields of a mutation that change one record each, which sync clients send together: as many as in one request to sync. */
  graphMutationChangesMax: 100,
  /** Records that the lists of one operation may return, and all its objects: about a second of one processor. */
  graphNodesMax: 10_000,
  graphObjectsMax: 50_000,
  /** What one operation reads from PostgreSQL as text: ten thousand usual records have a fifth of it. It is in memory until it is sent. */
  graphReadBytesMax: 32 * 1024 * 1024,
  /** Clients do not wait longer. */
  graphDeadlineMs: 10_000,
  /** Changes of one GraphQL batch: with the neighbors that move with them, they are one request to sync. */
  graphBatchMax: 50,

  /** Page size of lists that may have thousands of items. */
  listPageDefault: 100,
  listPageMax: 500,

  /** Groups of people that a replica caches, some 200 bytes each: the groups of a person with more are read each time. */
  groupsCachedMax: 200_000,

  /** An invitation is usually used within a week. */
  invitationDaysDefault: 7,
  /** Lists of these have no pages, so they are bounded. */
  workspacesOwnedMax: 1000,
  invitationsPendingMax: 500,
  /** Section 8 of the specification. */
  webhookEndpointsMax: 10,
  webhookDescriptionMax: 255,
  deliveriesPageDefault: 25,
  deliveriesPageMax: 100,
  /** How long events, deliveries, attempts and parked entries of the dispatcher are kept. */
  deliveryDays: 30,
  /** Longer addresses are cut by proxies. */
  webhookUrlMax: 2048,
  /** Secrets of one endpoint in force at a time; each adds a signature to every delivery. */
  webhookSecretsMax: 5,
  /** Test events of one endpoint that wait to be sent. */
  webhookTestsMax: 20,
  /** Failed deliveries that one replay queues again. */
  webhookReplayMax: 100_000,
  /** Attempts of one delivery that are listed. */
  webhookAttemptsListMax: 100,

  /** Records in a page of GraphQL, when the query does not name a number, and at most. */
  graphPageDefault: 50,
  graphPageMax: 100,
  /** Comparisons in one filter, filters inside a filter, and values of one list: each makes PostgreSQL compare every record more. */
  graphFilterLeavesMax: 50,
  graphFilterDepthMax: 5,
  graphFilterListMax: 100,
  /** A filter text, or the words of a search. */
  graphFilterTextMax: 1_000,
  graphSearchTextMax: 200,
  /** Keys of one order, besides the id. */
  graphOrderKeysMax: 4,
  /** A read waits so long for a position that is not committed yet, or not in the replica. */
  graphPositionWaitMs: 2_000,
  /** Statements that a connection of the graph service has prepared. With more, connections are replaced, because they keep them all. */
  graphPreparedMax: 150,

  /** One hash of a password takes 128 MB and half a second of a core: so many at once, of one network one. */
  passwordHashesAtOnceMax: 2,
  /** Besides these, for people in a browser or a network in which they signed in before, of one person one. */
  passwordHashesOfKnownAtOnceMax: 1,
  passwordHashesWaitingMax: 32,
  passwordHashWaitMs: 5_000,
  /** Failed sign-ins within the window: of one network for one address and for any address, and for one address from all networks. */
  signInFailuresMax: 10,
  signInFailuresOfNetworkMax: 30,
  signInFailuresOfAccountMax: 100,
  signInWindowMs: 15 * 60_000,
  /** Browsers and networks in which the owner of an account signed in before, and that are counted separately. */
  signInPlacesMax: 20,
  /** A session ends when it is not used for so long, and after the longer time in any case. */
  sessionIdleMs: 14 * 24 * 60 * 60_000,
  sessionMs: 30 * 24 * 60 * 60_000,
  sessionsPerPersonMax: 20,
  /** The time to sign in and to consent. */
  authorizationRequestMs: 10 * 60_000,

  apiKeysPerPersonMax: 100,
  /** Creations by one person, over REST, GraphQL and the page together. A revocation needs a key, so this bounds revocations too. */
  apiKeysPerMinuteMax: 120,
  /** How long a revoked key is stored: longer than its creation may be repeated, and than caches need its revocation. */
  apiKeyRevokedKeptMs: 2 * 24 * 60 * 60_000,
  /** How often the time of a key's last use is stored. */
  apiKeyUseIntervalMs: 60_000,

  /** A revoked key or ended membership is refused everywhere after this time, also when the message about it was lost. */
  credentialCacheMs: 5_000,
  /** Concurrent look-ups of credentials of one network; its others wait, those of other networks do not. */
  lookUpsOfSenderMax: 16,
  /** About the connections of one network; a look-up that waits longer than a call may take gets 503 with Retry-After. */
  lookUpsWaitingOfSenderMax: 4096,
  lookUpWaitMs: 10_000,
  internalTokenSeconds: 60,

  /** A client redeems its code immediately. */
  codeMs: 60_000,
  /** Verifiers look up the grant of a token, so a revocation does not wait for this. */
  accessTokenMs: 30 * 60_000,
  /** A grant ends when it is not used for this long, and at this age in any case. */
  grantIdleMs: 30 * 24 * 60 * 60_000,
  grantMs: 90 * 24 * 60 * 60_000,
  /** Apps of one person. A further consent ends those that were used longest ago. */
  grantsPerPersonMax: 200,
  redirectUrisMax: 10,
  redirectUriMax: 2048,
  /** Clients write their names themselves, and pages show them. */
  clientNameMax: 100,
  /** Clients register without a credential: one that never gets a token is deleted after this, one without a grant after the longer time. */
  clientUnusedMs: 24 * 60 * 60_000,
  /** Of those that never got a token, from all networks; beyond it, a registration deletes the oldest without a running authorization. */
  clientsUnusedMax: 10_000,
  clientIdleMs: 180 * 24 * 60 * 60_000,

  /** Wrong invitation codes of one person, over REST, GraphQL and the pages together. Codes cannot be guessed; this bounds the work. */
  wrongCodesPerMinuteMax: 30,

  /** A longer credential is invalid; all headers together may have twice as much. */
  credentialChars: 8 * 1024,
} as const;
