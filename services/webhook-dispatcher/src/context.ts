import type { Roles } from '@wts/read-model';
import type { Idempotency } from '@wts/service-kit/routes';
import type { StoredEvent } from './domain/event.ts';
import type { SecretKeys } from '@wts/service-kit/sealing';
import type { DeliveryStore } from './store/deliveries.ts';
import type { EndpointStore } from './store/endpoints.ts';
import type { MovedEndpointStore } from './store/moved-endpoints.ts';
import type { TestResult } from './store/enqueue.ts';

/** What the operations of management work with, opened once. */
export interface Context {
  readonly roles: Roles;
  readonly endpoints: EndpointStore;
  readonly deliveries: DeliveryStore;
  readonly movedEndpoints: MovedEndpointStore;
  readonly idempotency: Idempotency;
  /** Null when the deployment has no key for secrets. */
  readonly secretKeys: SecretKeys | null;
  /** A sentence for the caller when an address cannot be an endpoint, else null. */
  readonly refusalOfUrl: (url: string) => Promise<string | null>;
  /** Makes all replicas read the settings of these endpoints anew, and look for work of theirs. */
  readonly announce: (endpointIds: readonly string[]) => void;
  /** Announces to the replica that follows the log that the workspace has a new endpoint, or one that is enabled again. */
  readonly follow: (workspaceId: string) => void;
  /** Queues an `endpoint.test` event behind what the endpoint waits for already. */
  readonly enqueueTest: (endpointId: string, event: StoredEvent) => Promise<TestResult>;
}
