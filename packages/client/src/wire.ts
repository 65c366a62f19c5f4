/** What the client and the server send each other. A test compares these types with the contracts, which are not published. */
import type { ErrorCode } from './codes.ts';
import type { AcceptedChange, SyncAction } from './records.ts';

export interface ErrorBody {
  readonly error: string;
  readonly ok: false;
  readonly statusCode: number;
  readonly code: ErrorCode;
  readonly message?: string;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

/** A page of the log. */
export interface DeltasReply {
  /** The next `after`. It also moves past entries that the caller cannot see. */
  readonly lastSyncId: string;
  readonly hasMore: boolean;
  readonly actions: readonly SyncAction[];
}

export const DELTAS_NAMES: readonly (keyof DeltasReply)[] = ['lastSyncId', 'hasMore', 'actions'];

export interface MutateReply {
  readonly ok: true;
  readonly success: boolean;
  readonly lastSyncId: string;
  readonly results: readonly {
    readonly clientTxId: string;
    readonly success: boolean;
    readonly syncId?: string;
    readonly error?: string;
    readonly code?: ErrorCode;
  }[];
  readonly mutations: readonly AcceptedChange[];
}

export interface SyncTransaction {
  readonly clientTxId: string;
  readonly clientId: string;
  readonly modelName: string;
  readonly modelId: string;
  readonly action: 'INSERT' | 'UPDATE' | 'DELETE' | 'ARCHIVE' | 'UNARCHIVE';
  readonly payload: { readonly [field: string]: unknown };
}

export interface SubscribeFrame {
  readonly type: 'subscribe';
  readonly afterSyncId: string;
  readonly token: string;
}

export type ServerFrame =
  | { readonly type: 'subscribed'; readonly afterSyncId: string; readonly groups: readonly string[] }
  | { readonly type: 'delta'; readonly packet: Omit<DeltasReply, 'hasMore'> }
  | { readonly type: 'error'; readonly code: string; readonly message: string };
