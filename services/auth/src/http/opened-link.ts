import type { PageAnswer, PageCall } from './mount-page.ts';

/** A link whose token was found, and who opened it. */
export interface OpenedLink {
  readonly call: PageCall;
  readonly token: string;
  readonly hash: Buffer;
  readonly accountId: string | null;
  readonly address: string | null;
}

/** What a kind of link leads to. */
export interface LinkPages {
  /** `ended`: its account is gone, or another request used the link meanwhile. */
  show(opened: OpenedLink): Promise<PageAnswer | 'ended'>;
  use(opened: OpenedLink): Promise<PageAnswer | 'ended'>;
}
