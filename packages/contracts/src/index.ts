export * from './actions.ts';
export * from './contract.ts';
export * from './errors.ts';
export * from './ids.ts';
export * from './limits.ts';
export * from './scopes.ts';
export * from './version.ts';
export * as meta from './meta.ts';
export * as syncApi from './sync.ts';
export * as workspaceApi from './workspaces.ts';
export type {
  AcceptedMutation,
  DeltasReply,
  InternalMutation,
  InternalCommitReply,
  MutateReply,
  MutationResult,
  SyncTransaction,
} from './sync.ts';
export type { NewWorkspace, Workspace } from './workspaces.ts';
