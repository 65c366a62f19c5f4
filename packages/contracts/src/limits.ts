/**
 * Every bound of the system that a caller or an operator can meet, with its reason. Settings of the services name these
 * as defaults; contracts and code read them from here. Lengths of single fields stand in their schemas, and what concerns
 * one file alone, such as the pause between two tries, is a constant of that file. Units stand last in the name. A bound
 * that no code reads is refused by infra/tidy, and each place where something could gather has a test that fills it: keeps
 * never.unbounded.
 */
export const LIMITS = {
  /** A REST body is a form's worth of data. */
  bodyBytes: 1024 * 1024,
  /** 100 transactions of the largest records fit. */
  mutateBodyBytes: 4 * 1024 * 1024,
  /** Bodies above this are large: where a service asks for it, they take turns by person. */
  bodyBytesLarge: 64 * 1024,
  /** Large bodies that are being received, of which one person has a quarter at most, and how long they wait to be parsed. */
  bodiesBytesMax: 128 * 1024 * 1024,
  bodyWaitMs: 10_000,
  /** Deeper JSON only serves to exhaust the stack. */
  jsonDepth: 64,
  /** Twice what 100 of the largest records hold. Each value costs the event loop what hundreds of characters cost. */
  jsonValuesMax: 20_000,
  headerBytes: 16 * 1024,
  headerCount: 100,
  urlBytes: 8 * 1024,
  /** Time to send all headers, then the whole request: a slow sender must not hold a socket. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  /** Above the idle time of common load balancers (60 s), so the balancer closes first. */
  keepAliveTimeoutMs: 65_000,
  /** Connections of one process, which may open about 20 000 files where nobody raised the limit. */
  connectionsMax: 18_000,
  /** With fewer than these a service is of no use to anybody. */
  connectionsMin: 64,
  /** Files for what is no connection of a caller: stores, spools, the program itself. */
  filesReserved: 256,
  /** Connections beyond the bound that are answered at a time, as a share of it; any more are dropped without a word. */
  connectionsRefusedShare: 0.05,
  connectionRefusalMs: 2_000,
  retryAfterSecondsMax: 5,
  /** A refusal is answered after this: 240 clients that ask again at once would otherwise ask thousands of times a second. */
  refusalPauseMs: 500,
  /** Connections that the system holds until they are taken, in a wave of clients that come back. Linux allows as many. */
  connectionsBacklog: 4096,
  /**
   * Requests of one connection that are not answered. They are taken one at a time, except behind the end of a body, where
   * they are looked for only so many bytes apart: a body full of blank lines must not cost more than any other.
   */
  pipelinedRequestsMax: 64,
  pipelinedBytesMin: 2048,
  /** Connections with further requests that are taken in one turn of the event loop: a few milliseconds of work. */
  pipelinedTurns: 16,
  /** Names of services are looked up again so often: a replica that came has work, one that went none, within seconds. */
  addressRefreshMs: 5_000,
  addressesOfNameMax: 256,
  /**
   * An address that is silent for so long while requests wait is asked for a sign of life, and lost without one: a process
   * that hangs costs its callers seconds. How often that is looked at.
   */
  addressQuietMs: 2_000,
  addressProbeMs: 2_000,
  /** Its sockets, which wait for nothing, are given up later: where a process is only slow, thousands would come back to it. */
  addressGoneMs: 15_000,
  addressWatchMs: 500,
  /** How long a service waits for another. */
  internalCallTimeoutMs: 10_000,
  /** `/ready` must answer before the prober gives up. */
  readyTimeoutMs: 1_500,
  /** Requests still running after SIGTERM get this long. */
  drainMs: 10_000,

  mutateTransactionsMax: 100,
  /** Answers to changes, with the records as they are now, that their clients have not taken: of one person a quarter. */
  mutateAnswersBytesMax: 128 * 1024 * 1024,
  deltasLimitDefault: 1000,
  deltasLimitMax: 5000,
  /** A page this large is full, however few entries it holds: it is in memory as a whole until its client has taken it. */
  deltasBytesMax: 2 * 1024 * 1024,
  /** Pages that their clients have not taken: 96 of the largest, of one person a quarter. */
  pagesBytesMax: 192 * 1024 * 1024,
  /** How long a page waits for its turn, and what sockets read when thousands of them come back; and how many of each wait. */
  pageWaitMs: 8_000,
  socketReadWaitMs: 30_000,
  readsWaitingMax: 20_000,
  batchRequestsMax: 100,
  /** A snapshot open for longer keeps PostgreSQL from clearing away old rows. What takes longer is asked for in parts. */
  snapshotAgeMs: 60_000,
  /** Snapshots waiting for their turn; beyond it, those of the person with the most are told to come again. */
  snapshotQueueMax: 64,
  snapshotWaitMs: 10_000,
  /** Answers being read at once: this many callers are served from a few shared snapshots. */
  snapshotAnswersMax: 2000,
  /** How long a finished snapshot waits for others who ask for the same. */
  snapshotKeptMs: 30_000,
  /** In a reconnect storm, a snapshot this young is shared although a change came after it: every client goes on with deltas. */
  snapshotSharedMs: 10_000,
  /** A client that takes nothing of an answer for this long is cut off; or for this long, where what it holds runs short. */
  answerStalledMs: 30_000,
  answerStalledTightMs: 3_000,
  /** Snapshots are kept in memory up to these sizes, one and all together, and on disk above. */
  spoolMemoryBytes: 16 * 1024 * 1024,
  spoolsMemoryBytesMax: 192 * 1024 * 1024,
  spoolsDiskBytesMax: 2 * 1024 * 1024 * 1024,
  /** Same caller, device and transaction are recognized this long. */
  idempotencyDays: 30,

  /** An answer can be had again with its Idempotency-Key for a day: longer than any client retries by itself. */
  idempotencyKeptMs: 24 * 60 * 60 * 1000,
  /** A key whose request died with its process is free again; above what any request may take. */
  idempotencyLeaseMs: 45_000,

  socketFrameBytesMax: 64 * 1024,
  /** Groups that one subscription names; a person with more subscribes to all of them. */
  socketGroupsMax: 1_000,
  /** In how many fragments a message may come, and in how many reads of the network a frame: each costs more than its bytes. */
  socketFragmentsMax: 256,
  socketChunksMax: 1024,
  socketSubscribeTimeoutMs: 10_000,
  socketPingMs: 30_000,
  socketWatermarkMs: 20_000,
  /** Above this a socket is not fed; its cursor waits. */
  socketUnsentBytesMax: 256 * 1024,
  /** A socket that did not drain in this time is closed with a resumable code. */
  socketStalledMs: 20_000,
  /**
   * What all sockets of a process have not taken, and what each may leave, and for how long, while it is more than that:
   * thousands who do not read must not fill the memory within the time that one of them is given.
   */
  socketsUnsentBytesMax: 256 * 1024 * 1024,
  socketUnsentBytesTight: 64 * 1024,
  socketStalledTightMs: 3_000,
  socketPacketActionsMax: 100,
  /** A packet this large is on its way before the next is made; larger ones would only delay their first entry. */
  socketPacketBytesMax: 64 * 1024,
  /** Frames a client may send in each window. Subscribing costs queries, so it counts for many. */
  socketFramesPerWindow: 500,
  socketSubscribeCostsFrames: 25,
  socketFramesWindowMs: 10_000,
  /** Time to read the error frame and answer the close, then the connection is cut. */
  socketClosingMs: 3_000,
  /** Of the connections of a process; the rest is for requests. */
  socketsShare: 0.95,

  /** Recent chunks kept in memory per sync replica, counted as what they take of its heap. */
  ringBytesMax: 64 * 1024 * 1024,
  ringAgeMs: 60_000,
  /** One JetStream message; a quarter of the server's usual 1 MB payload bound. */
  chunkBytesMax: 256 * 1024,
  /** Chunks that wait for a slow or absent broker; beyond it, and for whatever is missing, the relay reads the log. */
  relayBacklogBytesMax: 8 * 1024 * 1024,

  /** The most one group commits when others wait: 50-200 already give 80 % of the gain, and two requests of 50 fit. */
  commitBatchMutations: 128,
  /** And what it writes, in entries of a kilobyte: larger ones gain nothing, and others wait longer for them. */
  commitBatchWeight: 1024,
  /** How long a change may wait, and be worked on: what is not committed by then is not waited for by its client. */
  commitDeadlineMs: 10_000,
  /** A batch whose deadline comes is given so long from when it began: a lock may be held for a few seconds. */
  commitBatchMs: 6_000,
  /** What waits, in all: mutations, and what their payloads take. */
  commitQueueMutationsMax: 20_000,
  commitQueueBytesMax: 64 * 1024 * 1024,
  /** People and workspaces that a replica remembers between commits, and the most memberships of one of these people. */
  commitMemoryEntriesMax: 2_000,
  commitMemoryRowsMax: 32,
  /** Memberships of a person that are read with each change; of who has more, the one that is asked about. */
  commitMembershipsReadMax: 100,
  /**
   * What a deletion or a move takes along in its own commit; of more, only the record itself goes at once, and the rest is
   * swept behind it in steps of this size. It takes some 50 ms, so others hardly wait for it.
   */
  cascadeRecordsMax: 500,
  cascadeRecordsBytesMax: 4 * 1024 * 1024,
  /** Records of one model below each other that are read one level after the other. */
  cascadeLevelsMax: 8,
  /** What all deletions and moves of a group take along together. */
  cascadeGroupRecordsMax: 3000,
  cascadeGroupBytesMax: 8 * 1024 * 1024,
  /** Ids that a sweep looks up at a time, and takes in one step: what is below them is measured in the step. */
  sweepIdsMax: 10_000,
  sweepStepIdsMax: 200,
  /** A sweep whose replica died is taken over by another one after this long. */
  sweepLeaseMs: 15_000,
  /** How often replicas look for sweeps that were left. */
  sweepEveryMs: 1_000,
  /** Answers below each other: nobody reads a deeper thread, and what is above has to be counted for each answer. */
  commentDepthMax: 32,
  /** One group touches at most this many records; it holds their locks and one place in the log. */
  cascadeActionsMax: 10_000,
  /** And what it reads of one kind, or writes, in text: a move of this much keeps PostgreSQL busy for seconds. */
  cascadeBytesMax: 32 * 1024 * 1024,

  /** Lists that may have thousands of entries come in pages: a screenful or a few. */
  listPageDefault: 100,
  listPageMax: 500,

  /** Groups of people that a replica remembers between pages, some 200 bytes each: whoever has more is read anew each time. */
  groupsCachedMax: 200_000,

  /** A link in a mail is answered within a week or forgotten. */
  invitationDaysDefault: 7,
  /** Lists of these have no pages; more than a person can look over serves nobody. */
  workspacesOwnedMax: 1000,
  invitationsPendingMax: 500,
  apiKeysPerPersonMax: 100,
  /** How often the time of a key's last use is written. */
  apiKeyUseIntervalMs: 60_000,

  /** A revoked key or lost membership must be dead everywhere within this bound even when no message arrives. */
  credentialCacheMs: 5_000,
  /** Credentials of one network that are looked up at a time; its others wait, those of other networks do not. */
  lookUpsOfSenderMax: 16,
  /** About as many wait as one network has connections; those that wait longer than a call may take are told to come again. */
  lookUpsWaitingOfSenderMax: 4096,
  lookUpWaitMs: 10_000,
  internalTokenSeconds: 60,
  /** A longer credential is none; all headers together may take twice as much. */
  credentialChars: 8 * 1024,
} as const;
