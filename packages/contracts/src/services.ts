/** Every service that calls others. */
export type ServiceName = 'gateway' | 'workspace' | 'auth' | 'sync' | 'graph' | 'webhook-dispatcher' | 'agent';

/**
 * The services that each one calls. A token of a caller is refused everywhere else, whatever it says; a service with an empty list
 * needs no key. What it may call there is in each contract.
 */
export const CALLS: Readonly<Record<ServiceName, readonly ServiceName[]>> = {
  gateway: ['workspace', 'auth', 'sync', 'webhook-dispatcher', 'graph', 'agent'],
  workspace: ['sync', 'auth'],
  auth: ['sync', 'workspace', 'webhook-dispatcher'],
  sync: ['auth'],
  graph: ['sync', 'workspace', 'auth'],
  agent: ['graph'],
  // The service that talks to strangers.
  'webhook-dispatcher': [],
};

/** The services that may call an internal operation; all others are refused, on behalf of any person. */
export interface InternalUse {
  readonly callers: readonly ServiceName[];
  /** A service calls for itself: a token with a person is refused. */
  readonly forItself?: true;
  /** Of the callers, those who may decide by themselves what is allowed (`authority: 'service'`). */
  readonly authority?: readonly ServiceName[];
}
