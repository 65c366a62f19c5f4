import { LIMITS } from '@wts/contracts';

/** Limits that only this service has, each with its reason. The body of a request has the common limit of bodies. */
export const AGENT_LIMITS = {
  /** Tasks in one call: a list that a person would still read, and a few commits. */
  batchMax: 25,
  /** Changes in one request to the graph service, which allows as many fields of a mutation. */
  changesOfRequestMax: LIMITS.graphMutationFieldsMax,
  /** Records in a page, when the caller names no number, and at most. */
  pageDefault: 25,
  pageMax: LIMITS.graphPageMax,
  /** Labels of one task in a call; the service keeps at most 50. */
  labelsMax: 50,
  /** Of a description in a list: a page of whole ones would be megabytes. get_task shows all of it. */
  descriptionShownMax: 1_000,
  /** A word that names something. Longer ones only repeat what the caller sent. */
  wordCharsMax: 200,
  /** Each change is named by its tool, this key and a hash of what was asked; the service allows 128 characters. */
  idempotencyKeyCharsMax: 100,
  /** The graph service ends an operation after ten seconds; a call may need a few of them. */
  graphCallMs: LIMITS.graphDeadlineMs + 1_000,
  callMs: 30_000,
  /** Calls at once, in this process and of one person: a call mostly waits for the graph service. */
  callsMax: 256,
  callsOfPersonMax: 8,
  callsWaitingMax: 1_000,
  callWaitMs: 10_000,
  /** Lists of tools and prompts change with a new version of this service and with the scopes of the token. */
  listTtlMs: 300_000,
  /** Tasks that are resources without a search: those that the person will do next. */
  resourcesMax: 25,
} as const;
