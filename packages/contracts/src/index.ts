export * from './actions.ts';
export * from './contract.ts';
export * from './errors.ts';
export { isHttpUrl } from './http-url.ts';
export * from './ids.ts';
export { isStorableText, orderedJson, parseJson } from './json.ts';
export * from './limits.ts';
export * from './nats-users.ts';
export * from './public-addresses.ts';
export * from './scopes.ts';
export * from './services.ts';
export { typed, type JsonSchema, type Typed, type TypeOf } from './type-of.ts';
export * from './version.ts';
export { form, type Form } from './auth/form.ts';
export type { GrantScope, ResolvedGrant } from './auth/oauth.ts';
export * as apiKeyApi from './api-keys.ts';
export * as cellApi from './auth/cells.ts';
export * as credentialApi from './auth/credentials.ts';
export * as graphqlApi from './graphql.ts';
export * as mcpApi from './auth/mcp.ts';
export * as invitationMoveApi from './invitation-moves.ts';
export * as memberApi from './members.ts';
export * as meta from './meta.ts';
export * as oauthApi from './auth/oauth.ts';
export * as operatorApi from './operator.ts';
export * as pageApi from './auth/pages.ts';
export * as accessApi from './workspace-access.ts';
export * as factorApi from './auth/factors.ts';
export * as workspaceSecurityApi from './auth/workspace-security.ts';
export * as authorizeApi from './auth/authorize.ts';
export * as connectApi from './auth/connect.ts';
export * as mailApi from './auth/mail.ts';
export * as privateProjectApi from './private-projects.ts';
export * as syncApi from './sync.ts';
export * as syncFrames from './sync/frames.ts';
export * as webhookApi from './webhooks.ts';
export * as workspaceApi from './workspaces.ts';
export type {
  AcceptedMutation,
  BatchRequest,
  BootstrapParameters,
  CopiedKey,
  CopiedRecord,
  CopyDigest,
  DeltasReply,
  InternalMutation,
  InternalCommitReply,
  MembershipChange,
  MembershipDetail,
  MoveState,
  MutateReply,
  MutationResult,
  PersonRecord,
  RecordCounts,
  SyncTransaction,
  WorkspaceOfPerson,
} from './sync.ts';
export type { ServerFrame, SocketErrorCode, SubscribeFrame } from './sync/frames.ts';
export type {
  EndpointChange,
  EventType,
  MovedDelivery,
  MovedEndpoint,
  NewEndpoint,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
} from './webhooks.ts';
export type { NewWorkspace, Workspace } from './workspaces.ts';
export { objectOf, okBody, type PageQuery } from './parts.ts';
export type { PrivateProject } from './private-projects.ts';
export type { MemberAccess, WorkspaceApp, WorkspaceEvent } from './workspace-access.ts';
export type { ApiKey, KeyMaker, KeyPermissions, NewApiKey } from './api-keys.ts';
export type { MovedInvitation } from './invitation-moves.ts';
export type { Invitation, InvitableRole, Member, NewInvitation, OpenInvitation } from './members.ts';
export type {
  OperatorClient,
  OperatorMove,
  OperatorPerson,
  OperatorPersonDetail,
  OperatorWorkspace,
} from './operator.ts';
