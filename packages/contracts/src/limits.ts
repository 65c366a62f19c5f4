/**
 * The bounds that callers and operators of the whole system see, each with its reason; clients load these only. Those of one service are in
 * its `src/limits.ts`, those that every service has by the service kit in `@wts/service-kit/limits`. The lengths of single fields are in
 * their schemas, and a number of one file, such as a pause between retries, is a constant of that file. Units are last in the name.
 * infra/tidy refuses a bound that no code reads, and each queue, cache and buffer has a test that fills it: keeps never.unbounded.
 */
export const LIMITS = {
  /** REST bodies are as small as a form. */
  bodyBytes: 1024 * 1024,
  /** A form, or the metadata of a client. */
  formBytes: 16 * 1024,
  /** 100 transactions of the largest records fit. */
  mutateBodyBytes: 4 * 1024 * 1024,
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
  /** Connections of one process, which may open about 20 000 files by default. */
  connectionsMax: 18_000,
  /** A service does not start with fewer. */
  connectionsMin: 64,
  /** Files for all but connections of callers: database connections, spools, the program itself. */
  filesReserved: 256,
  /** Connections over the bound that get 503, as a share of the bound; more are closed without a reply. */
  connectionsRefusedShare: 0.05,
  retryAfterSecondsMax: 5,

  mutateTransactionsMax: 100,
  deltasLimitDefault: 1000,
  deltasLimitMax: 5000,
  batchRequestsMax: 100,
  /** A repeated transaction of the same caller and device is recognized for this long. */
  idempotencyDays: 30,

  /** The reply of an Idempotency-Key is stored for a day: longer than clients retry. */
  idempotencyKeptMs: 24 * 60 * 60 * 1000,

  socketFrameBytesMax: 64 * 1024,
  /** Groups in one subscription; a person with more subscribes to all of them. */
  socketGroupsMax: 1_000,
  socketSubscribeTimeoutMs: 10_000,
  socketPingMs: 30_000,
  socketWatermarkMs: 20_000,
  /** Above this a socket gets no further packets until it drains. */
  socketUnsentBytesMax: 256 * 1024,
  /** A socket that does not drain in this time is closed, and may resume. */
  socketStalledMs: 20_000,
  socketPacketActionsMax: 100,

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
  /** Clients do not wait longer. */
  graphDeadlineMs: 10_000,
  /** Changes of one GraphQL batch: with the neighbors that move with them, they are one request to sync. */
  graphBatchMax: 50,

  /** Page size of lists that may have thousands of items. */
  listPageDefault: 100,
  listPageMax: 500,

  /** Groups of people that a replica caches, some 200 bytes each: the groups of a person with more are read each time. */
  groupsCachedMax: 200_000,

  /** Ten years: longer than any duty to keep records of work. */
  trashRetentionDaysMax: 3650,
  /** Days in which the owner of a deleted workspace can restore it, as hosted services have it. */
  workspaceTrashDays: 7,
  /** Tasks that one request deletes from the Trash: a second of commits. */
  trashEmptyMax: 1000,

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

  /** Creations by one person, over REST, GraphQL and the page together. A revocation needs a key, so this bounds revocations too. */
  apiKeysPerMinuteMax: 120,

  /** A revoked key or ended membership is refused everywhere after this time, also when the message about it was lost. */
  credentialCacheMs: 5_000,
  internalTokenSeconds: 60,

  /** Wrong invitation codes of one person, over REST, GraphQL and the pages together. Codes cannot be guessed; this bounds the work. */
  wrongCodesPerMinuteMax: 30,

  /** A longer credential is invalid; all headers together may have twice as much. */
  credentialChars: 8 * 1024,
} as const;
