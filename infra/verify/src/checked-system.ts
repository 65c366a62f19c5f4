import type { TestSystem } from '@wts/testkit';

/** What writers, followers and consumers use of a system: its public API, its stores, and internal calls that arrange people. */
export type CheckedSystem = Pick<
  TestSystem,
  'baseUrl' | 'apiKey' | 'userId' | 'workspaceId' | 'request' | 'socket' | 'commit' | 'person' | 'member' | 'untilReady'
> & {
  /** As a superuser. It always names the primary. */
  readonly database: { readonly url: string };
  readonly nats: { readonly url: string };
  /** The number of its cell; without it that of the first one. */
  readonly shard?: number;
};
