/** Limits that only this service has, each with its reason. The limits of the public interface are in @wts/contracts. */
export const GRAPH_LIMITS = {
  /** Errors of one document: a client shows a few, and a document of wrong names would cost a suggestion each. */
  validationErrorsMax: 20,
  /** Errors of the variables of a request: each prints the wrong value, and fifty of an object with 18,000 names took 0.7 s. */
  variableErrorsMax: 5,
  /** Fields of an answer about the schema: half more than the usual introspection has, and less than 50 ms. */
  introspectionFieldsMax: 30_000,
  /** Answers about the schema in memory: each tool asks the same each time. */
  introspectionsMax: 8,
  /** Of each; longer ones are made again. The usual one is shorter, and 30,000 descriptions are much longer. */
  introspectionCharsMax: 2 * 1024 * 1024,
  /** Records of an operation that are completed in one turn of the event loop: with fifty fields each, 20 ms. */
  objectsAtOnceMax: 500,
  /** Fields that are completed in one turn of the event loop, for all people together: less than 5 ms. */
  turnFields: 5_000,
  /** Long texts of an answer that this service makes: the engine of JSON takes 40 ms for them, and they are in memory several times. */
  answerCharsMax: 8 * 1024 * 1024,
  /** What an operation reads whose records this service parses: ten thousand usual records have less. */
  parsedBytesMax: 8 * 1024 * 1024,
  /** Requests that wait for their turn to have a new document read; each holds its text. */
  documentsWaitingMax: 1_000,
  /** Days of a preview of a repeat rule: with usual rules, each takes less than 0.2 ms, and with rare days up to 2 ms. */
  previewDaysMax: 50,
  /** Days times characters of the rule, which is read again for each day. */
  previewCharsMax: 10_000,
  /** Comments stay in memory with their document. */
  commentsMax: 1000,
  /** Longer messages only repeat what the caller sent. */
  messageCharsMax: 500,
  /** Validated documents in memory: the text and some hundred bytes for each token of them. */
  documentsBytesMax: 48 * 1024 * 1024,
  /** Documents used once, which new ones displace first, so that no person displaces the documents of others. */
  documentsUsedOnceBytesMax: 8 * 1024 * 1024,
  /**
   * Answers that their clients have not received, in bytes: two of the largest for one person, who has a quarter, and the memory of a
   * process. An answer takes up to three times its bytes while it is read.
   */
  answersBytesMax: 256 * 1024 * 1024,
  /** A shorter answer does not count: it fits into the send buffer of its connection. */
  answerBytesSmall: 16 * 1024,
  /** Statements that wait for a connection; each holds its text and its values in memory. */
  statementsWaitingMax: 2_000,
  /** A person with longer statements has at most half of the connections; pages take a few milliseconds. */
  statementLongMs: 100,
  /** Connections that cancel statements, which takes PostgreSQL less than a millisecond. */
  cancelConnections: 2,
  /** What one operation reads from PostgreSQL as text: ten thousand usual records have a fifth of it. It is in memory until it is sent. */
  readBytesMax: 32 * 1024 * 1024,
  /** Matching tasks, comments or checklist items of one list that are sorted where no index has the order: 0.1 s. */
  sortedRecordsMax: 20_000,
  /** A read waits so long for a position that is not committed yet, or not in the replica. */
  positionWaitMs: 2_000,
  /** Statements that a connection of the graph service has prepared. With more, connections are replaced, because they keep them all. */
  preparedMax: 150,
} as const;
