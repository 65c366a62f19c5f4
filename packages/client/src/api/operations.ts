// Written by `npm run models` in packages/client. Do not edit.

import type { CallOptions } from '../retry.ts';
import type { OperationOptions } from './request.ts';

export type Workspace = {
  /** Unique identifier; never changes. */
  readonly id: string;
  /** Shown to people. */
  readonly name: string;
  /** Its unique name in URLs; never changes. */
  readonly urlKey: string;
  /** Absolute URL of a picture. */
  readonly logoUrl: string | null;
  /** Your role in it. `owner`: everything, owners included. `admin`: members, invitations, teams and webhooks. `member`: all work items. `guest`: reads, comments, and changes the tasks they created or are assigned. */
  readonly role: 'owner' | 'admin' | 'member' | 'guest';
  /** When it was created. */
  readonly createdAt: string;
  /** When its name or logo last changed. */
  readonly updatedAt: string;
  /** When it was deleted: for 7 days its owners can restore it. Null while it is not. */
  readonly archivedAt: string | null;
  /** In lists of a service with several addresses: that of the API for this workspace. */
  readonly baseUrl?: string;
};

export type Invitation = {
  /** Use it to delete the invitation. */
  readonly id: string;
  /** The workspace that it is for. */
  readonly workspaceId: string;
  /** The only address that may redeem it; null for anyone. */
  readonly email: string | null;
  /** The role of the person who redeems it. */
  readonly role: 'admin' | 'member' | 'guest';
  /** The person who invited. */
  readonly createdBy: string;
  /** When it was created. */
  readonly createdAt: string;
  /** When it expires. */
  readonly expiresAt: string;
};

export type Member = {
  /** Unique identifier of the person, the same in every workspace. */
  readonly userId: string;
  /** Full name. */
  readonly name: string;
  /** As the identity provider gave it. */
  readonly email: string | null;
  /** Absolute URL of a picture. */
  readonly avatarUrl: string | null;
  /** `owner`: everything, owners included. `admin`: members, invitations, teams and webhooks. `member`: all work items. `guest`: reads, comments, and changes the tasks they created or are assigned. */
  readonly role: 'owner' | 'admin' | 'member' | 'guest';
  /** When they created or joined the workspace. */
  readonly joinedAt: string;
};

export type OpenInvitation = {
  /** Use it to delete the invitation. */
  readonly id: string;
  /** The role of the person who redeems it. */
  readonly role: 'admin' | 'member' | 'guest';
  /** The only address that may redeem it; null for anyone. */
  readonly email: string | null;
  /** When it expires. */
  readonly expiresAt: string;
};

export type PrivateProject = {
  /** Unique identifier of the project. */
  readonly id: string;
  /** Shown to people. */
  readonly name: string;
  /** Short code. */
  readonly key: string;
  /** The lead. */
  readonly leadId: string | null;
  /** The person who created it. */
  readonly creatorId: string;
  /** How many members of the workspace see it. */
  readonly memberCount: number;
  /** When it was created. */
  readonly createdAt: string;
  /** When it was archived; null while it is not. */
  readonly archivedAt: string | null;
};

export type ApiKey = {
  /** Unique identifier; use it to revoke the key. */
  readonly id: string;
  /** The owner of the key. */
  readonly userId: string;
  /** What the key is for. */
  readonly label: string;
  /** First characters of the token, to recognize the key. */
  readonly keyPrefix: string;
  /** `read-only`: the scope `read`. `full-access`: the scopes `read`, `write` and `admin`. */
  readonly permissions: 'read-only' | 'full-access';
  /** The only workspace that the key has access to; null when it has access to all workspaces of its owner. */
  readonly workspaceId: string | null;
  /** When it expires; null for never. */
  readonly expiresAt: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** What the key was created with; null for a key from before this was stored, or one created by the operator of the service. */
  readonly createdBy: { /** `session`: a signed-in person. `api_key`: another key, which may be revoked now. */
  readonly kind: 'session' | 'api_key';
  /** The `id` of that key; only its owner gets it. */
  readonly id?: string;
  /** Prefix of the key. Shown only to its owner. */
  readonly keyPrefix?: string; } | null;
  /** When it was last used, up to a minute late. */
  readonly lastUsedAt: string | null;
};

export type App = {
  /** Use it to end the access. */
  readonly id: string;
  /** The member who allowed it. */
  readonly userId: string;
  /** As the app calls itself. Any app can use any name. */
  readonly name: string | null;
  /** The client of OAuth. */
  readonly clientId: string;
  /** Where the app got its answer: a host, or the scheme of an app on a device. */
  readonly redirectHost: string | null;
  /** What it may do. */
  readonly scopes: readonly ('read' | 'write')[];
  /** True when the member allowed it for all of their workspaces. Only they can end it; remove the member, or ask them. */
  readonly coversOtherWorkspaces: boolean;
  /** When the member allowed it. */
  readonly createdAt: string;
  /** When it last got tokens. */
  readonly lastUsedAt: string;
  /** When it ends if it is not used. */
  readonly expiresAt: string;
};

export type Event = {
  /** Unique identifier of the event. */
  readonly id: string;
  /** When it happened. */
  readonly at: string;
  /** What happened, for programs, such as `sign-in`. New kinds may be added. */
  readonly kind: string;
  /** What happened, for people. */
  readonly text: string;
  /** The member it happened to; null for the workspace itself. */
  readonly userId: string | null;
  /** Who did it: `person`, `operator` of this service, or `system`, which is the service itself. */
  readonly actor: string;
  /** The person who did it; null where nothing proved who it was. */
  readonly actorId: string | null;
  /** The key, the app or the session that it is about. */
  readonly subjectId: string | null;
  /** The network of the request; null for what does not concern this workspace alone. */
  readonly network: string | null;
  /** The browser or program of the request, with the same exception. */
  readonly browser: string | null;
};

export type WebhookAttempt = {
  /** Counts up from 1. */
  readonly number: number;
  /** When it began. */
  readonly startedAt: string;
  /** How long it took. */
  readonly durationMs: number;
  /** HTTP status; null without an answer. */
  readonly statusCode: number | null;
  /** Beginning of the body of the answer. */
  readonly responseSnippet: string | null;
  /** Why it failed, as in `lastError`; null for a success. */
  readonly error: string | null;
};

export type WebhookDelivery = {
  /** Unique identifier. */
  readonly id: string;
  /** The endpoint it is for. */
  readonly endpointId: string;
  /** The `id` of the event. */
  readonly eventId: string;
  /** The `type` of the event. */
  readonly eventType: 'task.created' | 'task.updated' | 'task.completed' | 'task.archived' | 'task.deleted' | 'project.created' | 'project.updated' | 'project.completed' | 'project.archived' | 'project.deleted' | 'comment.created' | 'comment.updated' | 'comment.deleted' | 'endpoint.test';
  /** `pending`: an attempt will follow. `succeeded`: answered with 2xx. `failed`: no attempt will follow. */
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** Attempts so far, manual ones included. */
  readonly attemptCount: number;
  /** When it was queued. Deliveries of one endpoint are at least a millisecond apart, so this runs ahead of the clock while more than 1,000 a second are queued. */
  readonly createdAt: string;
  /** What is sent to an endpoint: the same bytes on every attempt and to every endpoint. */
  readonly payload: { /** The `webhook-id` header: the same on every attempt. */
  readonly id: string;
  /** What happened. */
  readonly type: 'task.created' | 'task.updated' | 'task.completed' | 'task.archived' | 'task.deleted' | 'project.created' | 'project.updated' | 'project.completed' | 'project.archived' | 'project.deleted' | 'comment.created' | 'comment.updated' | 'comment.deleted' | 'endpoint.test';
  /** When the change was committed. */
  readonly createdAt: string;
  /** Version of this format. */
  readonly apiVersion: string;
  /** Where it happened. */
  readonly workspaceId: string;
  /** Its position in the sync log; of two events, the larger one is newer. Null for `endpoint.test`. */
  readonly syncActionId: string | null;
  /** The record. */
  readonly data: { /** The full record after the change, or before it for `*.deleted`. */
  readonly object: { readonly [field: string]: unknown };
  /** Names of the fields that changed; empty on creates, deletes and tests. */
  readonly changes: readonly string[]; }; };
  /** When it succeeded or failed for good. */
  readonly completedAt: string | null;
  /** When the last attempt began. */
  readonly lastAttemptAt: string | null;
  /** When the next attempt is due; null when none will follow. */
  readonly nextAttemptAt: string | null;
  /** HTTP status of the last attempt; null without an answer. */
  readonly lastStatusCode: number | null;
  /** Beginning of the body of the last answer, at most 1 KiB. */
  readonly lastResponseSnippet: string | null;
  /** Why the last attempt failed: `dns_error`, `blocked_address`, `connection_refused`, `connection_reset`, `connect_timeout`, `tls_error`, `timeout`, `http_status`, `invalid_response`, `interrupted`. With `interrupted`, nothing was sent, because the service stopped during the attempts before. */
  readonly lastError: string | null;
};

export type WebhookEndpoint = {
  /** Unique identifier. */
  readonly id: string;
  /** The workspace whose events it receives. */
  readonly workspaceId: string;
  /** Where events are sent. */
  readonly url: string;
  /** What the endpoint is for. */
  readonly description: string;
  /** The event types it receives; empty for every type. `endpoint.test` is always sent. */
  readonly eventTypes: readonly ('task.created' | 'task.updated' | 'task.completed' | 'task.archived' | 'task.deleted' | 'project.created' | 'project.updated' | 'project.completed' | 'project.archived' | 'project.deleted' | 'comment.created' | 'comment.updated' | 'comment.deleted')[];
  /** False while no deliveries are made. */
  readonly enabled: boolean;
  /** Failed attempts since the last success. */
  readonly consecutiveFailures: number;
  /** When it was switched off; null while it is enabled. */
  readonly disabledAt: string | null;
  /** `consecutive_failures`: about three days without a success. `gone`: it answered 410. Null while it is enabled, or when a person switched it off. */
  readonly disabledReason: 'consecutive_failures' | 'gone' | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When its settings or its state last changed. */
  readonly updatedAt: string;
};

export type Security = {
  /** Members who sign in with a password need a passkey or an authenticator app. Members of an identity provider have their second factor there. */
  readonly requireSecondFactor: boolean;
};

/** Each operation takes one object: the names in its path, of its query and of its body. */
export interface Operations {
  /** Create a workspace and become its owner. A person can own at most 1000 workspaces; 409 beyond that. */
  readonly createWorkspace: (input: { /** Shown to people. Not blank; length in Unicode code points. */ readonly name: string; /** Its unique name in URLs: lowercase letters, digits and hyphens. It cannot be changed later. */ readonly urlKey: string; /** Absolute http or https URL of a picture; null for none. */ readonly logoUrl?: string | null; /** The time zone in which its days begin, such as `Europe/Berlin`. Default: `UTC`. */ readonly timeZone?: string; }, options?: OperationOptions) => Promise<{ readonly ok: true; /** A workspace of one organization, with your role in it. */ readonly workspace: Workspace; }>;

  /** Delete a workspace. For its owners. For 7 days its members can only read it, and an owner can restore it. Then it is deleted for good with everything in it. */
  readonly deleteWorkspace: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The `urlKey` of the workspace, as a confirmation. */ readonly urlKey: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** A workspace of one organization, with your role in it. */ readonly workspace: Workspace; }>;

  /** Read one workspace by its urlKey. Finds a workspace by its `urlKey`, which is case-sensitive. One that you do not belong to is 404. */
  readonly getWorkspaceBySlug: (input: { /** The `urlKey` of the workspace. */ readonly slug: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** A workspace of one organization, with your role in it. */ readonly workspace: Workspace; }>;

  /** List your workspaces. Returns every workspace that you are a member of, without deleted ones. A key that is limited to one workspace gets only that one. A service may have several addresses, each with workspaces of its own: then ask at those of `elsewhere` too, with the same credential. */
  readonly listWorkspaces: (input?: Readonly<Record<string, never>>, options?: CallOptions) => Promise<{ readonly ok: true; /** In the order of their names. */ readonly workspaces: readonly Workspace[]; /** Further addresses of the API at which you may have workspaces: list them there. Left out where a service has one address. */ readonly elsewhere?: readonly string[]; }>;

  /** Restore a deleted workspace. For its owners, for 7 days after it was deleted. When it is not deleted, nothing changes. */
  readonly restoreWorkspace: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** A workspace of one organization, with your role in it. */ readonly workspace: Workspace; }>;

  /** Invite people. For owners and admins. With an e-mail address, the invitation can be used once, by that address. Without one, every person who has the code can use it until it expires. Only this answer shows the code. Where the operator set up mail, the invitation is mailed to its address too. */
  readonly createInvitation: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The only address that may redeem it, once. Without it, or with null, every person with the code may redeem it until it expires. */ readonly email?: string | null; /** The role of the person who redeems it. `owner`: everything, owners included. `admin`: members, invitations, teams and webhooks. `member`: all work items. `guest`: reads, comments, and changes the tasks they created or are assigned. */ readonly role?: 'admin' | 'member' | 'guest'; /** Days until it expires. */ readonly expiresInDays?: number; }, options?: OperationOptions) => Promise<{ readonly ok: true; /** An invitation to a workspace, for one e-mail address or for every person with its code. */ readonly invitation: { /** Use it to delete the invitation. */ readonly id: string; /** The workspace that it is for. */ readonly workspaceId: string; /** The only address that may redeem it; null for anyone. */ readonly email: string | null; /** The role of the person who redeems it. */ readonly role: 'admin' | 'member' | 'guest'; /** The person who invited. */ readonly createdBy: string; /** When it was created. */ readonly createdAt: string; /** When it expires. */ readonly expiresAt: string; /** Give it to the people you invite, or the page where they join: `/join?code=...` of the authorization server. Only this answer shows it. */ readonly code: string; }; }>;

  /** Delete a pending invitation. For owners and admins. Its code no longer works. */
  readonly deleteInvitation: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The `id` of the invitation. */ readonly invitationId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; }>;

  /** Join a workspace with an invitation code. When you are a member already, you get the same answer, and nothing changes, not even your role. 410 when you were removed from the workspace, or your role was lowered, after the invitation was made. 429 after 30 wrong codes of a person in a minute, by whichever way, unless the operator set another number. */
  readonly joinWorkspace: (input: { /** The code that you were given. */ readonly code: string; }, options?: OperationOptions) => Promise<{ readonly ok: true; /** A workspace of one organization, with your role in it. */ readonly workspace: Workspace; /** Your role in it. */ readonly role: 'owner' | 'admin' | 'member' | 'guest'; }>;

  /** List pending invitations. For owners and admins. Lists the invitations that are not expired, deleted or used up. */
  readonly listInvitations: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** Newest first. */ readonly invitations: readonly Invitation[]; }>;

  /** List the members of a workspace. Every member can list all members. To change a role, update its `WorkspaceMember` record with `/sync/mutate`. */
  readonly listMembers: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** In the order in which they joined. */ readonly members: readonly Member[]; }>;

  /** Remove a member, or leave. Owners and admins can remove members; only owners can remove owners. To leave, send your own id. The last owner cannot be removed (409). Within a second the person loses access to the workspace, also on open sockets. A removed person cannot use invitations made before (410), and neither can a person whose role was lowered. A person who left can use them again. */
  readonly removeMember: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The id of the person. */ readonly userId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** Invitations that people with their codes can still use, including another account of the removed person. Delete those you do not want. Newest first; empty when you left. */ readonly openInvitations: readonly OpenInvitation[]; }>;

  /** Add a member of the workspace to a private project. For owners and admins of the workspace. Everyone in the project sees the new member. For a person who is in the project already, the answer is the same and nothing changes. */
  readonly addPrivateProjectMember: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The id of a private project of the workspace. 404 for any other project. */ readonly projectId: string; /** The id of a member of the workspace. */ readonly userId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** A person in a private project, with their role in the workspace. */ readonly member: { /** Unique identifier of the person, the same in every workspace. */ readonly userId: string; /** Full name. */ readonly name: string; /** As the identity provider gave it. */ readonly email: string | null; /** Absolute URL of a picture. */ readonly avatarUrl: string | null; /** `owner`: everything, owners included. `admin`: members, invitations, teams and webhooks. `member`: all work items. `guest`: reads, comments, and changes the tasks they created or are assigned. */ readonly role: 'owner' | 'admin' | 'member' | 'guest'; /** When they joined the project. */ readonly joinedAt: string; }; }>;

  /** List the members of a private project. For owners and admins of the workspace. In the order of their ids. */
  readonly listPrivateProjectMembers: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The id of a private project of the workspace. 404 for any other project. */ readonly projectId: string; /** The `userId` of the last member of the page before. */ readonly after?: string; /** How many, clamped to 1..500. */ readonly limit?: number; }, options?: CallOptions) => Promise<{ readonly ok: true; /** Ascending by `userId`. */ readonly members: readonly { /** Unique identifier of the person, the same in every workspace. */ readonly userId: string; /** Full name. */ readonly name: string; /** As the identity provider gave it. */ readonly email: string | null; /** Absolute URL of a picture. */ readonly avatarUrl: string | null; /** `owner`: everything, owners included. `admin`: members, invitations, teams and webhooks. `member`: all work items. `guest`: reads, comments, and changes the tasks they created or are assigned. */ readonly role: 'owner' | 'admin' | 'member' | 'guest'; /** When they joined the project. */ readonly joinedAt: string; }[]; /** True when there is another page. */ readonly hasMore: boolean; }>;

  /** List the private projects of a workspace. For owners and admins, also when they are not in these projects. Shows names and people, never the content. In the order of the ids. */
  readonly listPrivateProjects: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The `id` of the last project of the page before. */ readonly after?: string; /** How many, clamped to 1..500. */ readonly limit?: number; }, options?: CallOptions) => Promise<{ readonly ok: true; /** Ascending by `id`. */ readonly projects: readonly PrivateProject[]; /** True when there is another page. */ readonly hasMore: boolean; }>;

  /** Remove a person from a private project. For owners and admins of the workspace. The person stays in the workspace. */
  readonly removePrivateProjectMember: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The id of a private project of the workspace. 404 for any other project. */ readonly projectId: string; /** The id of the person. */ readonly userId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; }>;

  /** Create an API key with full access. Only this answer shows the token. When you use an expiring key for this request, the new key expires with it. When that key is revoked, the new key stays valid, unless both are revoked together (`includeMade`). A person creates at most 120 keys in a minute, by whichever way. */
  readonly createApiKey: (input: { /** What the key is for. Not blank; length in Unicode code points. */ readonly label: string; }, options?: OperationOptions) => Promise<{ readonly ok: true; /** The key with its token. No later answer shows the token. */ readonly key: { /** Unique identifier; use it to revoke the key. */ readonly id: string; /** The owner of the key. */ readonly userId: string; /** What the key is for. */ readonly label: string; /** First characters of the token, to recognize the key. */ readonly keyPrefix: string; /** `read-only`: the scope `read`. `full-access`: the scopes `read`, `write` and `admin`. */ readonly permissions: 'read-only' | 'full-access'; /** The only workspace that the key has access to; null when it has access to all workspaces of its owner. */ readonly workspaceId: string | null; /** When it expires; null for never. */ readonly expiresAt: string | null; /** When it was created. */ readonly createdAt: string; /** What the key was created with; null for a key from before this was stored, or one created by the operator of the service. */ readonly createdBy: { /** `session`: a signed-in person. `api_key`: another key, which may be revoked now. */ readonly kind: 'session' | 'api_key'; /** The `id` of that key; only its owner gets it. */ readonly id?: string; /** Prefix of the key. Shown only to its owner. */ readonly keyPrefix?: string; } | null; /** When it was last used, up to a minute late. */ readonly lastUsedAt: string | null; /** Send it as `Authorization: Bearer <token>`. Only this answer shows it: store it now, and keep it secret. */ readonly token: string; }; }>;

  /** List your API keys. Without revoked keys, and without tokens. With `workspaceId`, an owner of that workspace gets all keys that are limited to it, of every person. */
  readonly listApiKeys: (input?: { /** Lists all keys that are limited to this workspace, for its owners. */ readonly workspaceId?: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** Newest first. */ readonly keys: readonly ApiKey[]; }>;

  /** Revoke an API key. Revokes your own key, or one that is limited to a workspace you own. It stops working everywhere within a second, and its open sockets close. */
  readonly revokeApiKey: (input: { /** The `id` of the key, not its token. */ readonly keyId: string; /** `true`: also revokes all keys that were made with it, and those made with these, and so on, even when the key itself is revoked already. Use this after a leak. */ readonly includeMade?: 'true' | 'false'; }, options?: CallOptions) => Promise<{ readonly ok: true; }>;

  /** End the access of an app to a workspace. For owners. Ends an app that is limited to the workspace, within a second, also on open connections. */
  readonly endWorkspaceApp: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The `id` of the app in the list. */ readonly grantId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; }>;

  /** List how members reach a workspace. For owners and admins: how each member signs in, and how many keys and apps of theirs reach the workspace. In the order of the ids. */
  readonly listWorkspaceAccess: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The `userId` of the last member of the page before. */ readonly after?: string; /** How many, clamped to 1..500. */ readonly limit?: number; }, options?: CallOptions) => Promise<{ readonly ok: true; /** Ascending by `userId`. */ readonly members: readonly { /** Unique identifier of the person, the same in every workspace. */ readonly userId: string; /** Full name. */ readonly name: string; /** As the identity provider gave it. */ readonly email: string | null; /** Absolute URL of a picture. */ readonly avatarUrl: string | null; /** `owner`: everything, owners included. `admin`: members, invitations, teams and webhooks. `member`: all work items. `guest`: reads, comments, and changes the tasks they created or are assigned. */ readonly role: 'owner' | 'admin' | 'member' | 'guest'; /** When they created or joined the workspace. */ readonly joinedAt: string; /** Whether someone verified that the address is theirs. */ readonly emailVerified: boolean; /** How the person can sign in: with a password of this service, or at an identity provider. */ readonly signsInWith: readonly ('password' | 'provider')[]; /** Whether a password alone is not enough; null for a person of an identity provider, which decides that. */ readonly hasSecondFactor: boolean | null; /** The last sign-in on a page, as far as the security record has it. */ readonly lastSignInAt: string | null; /** How many API keys of theirs reach this workspace. */ readonly apiKeys: number; /** How many connected apps of theirs reach this workspace. */ readonly apps: number; }[]; /** True when there is another page. */ readonly hasMore: boolean; }>;

  /** List the apps that reach a workspace. For owners and admins: what members connected by OAuth. In the order of the ids. */
  readonly listWorkspaceApps: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The `id` of the last app of the page before. */ readonly after?: string; /** How many, clamped to 1..500. */ readonly limit?: number; }, options?: CallOptions) => Promise<{ readonly ok: true; /** Ascending by `id`. */ readonly apps: readonly App[]; /** True when there is another page. */ readonly hasMore: boolean; }>;

  /** List what happened with the access to a workspace. For owners and admins, the newest first: sign-ins of members, keys and apps that reach the workspace, who joined and left, and changes of roles. What members do for other workspaces alone is left out, and so is what they did before they joined. */
  readonly listSecurityEvents: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** The `next` of the page before. */ readonly before?: string; /** How many, clamped to 1..500. */ readonly limit?: number; }, options?: CallOptions) => Promise<{ readonly ok: true; /** The newest first. */ readonly events: readonly Event[]; /** Send it as `before` for the next page; null after the last one. */ readonly next: string | null; }>;

  /** Read what a workspace requires of its members. Every member can read it. */
  readonly getWorkspaceSecurity: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** What a workspace requires of its members. */ readonly security: Security; }>;

  /** Require a second factor of the members. For owners. Members without a second factor are signed out, their apps are disconnected, and their API keys answer 403 `second_factor_required`, in all workspaces, until they add one. 409 while your own account has none. Who has none cannot join: 403. */
  readonly updateWorkspaceSecurity: (input: { /** The id of the workspace. 404 when you are not a member of it. */ readonly workspaceId: string; /** Whether members need a second factor. */ readonly requireSecondFactor: boolean; }, options?: CallOptions) => Promise<{ readonly ok: true; /** What a workspace requires of its members. */ readonly security: Security; }>;

  /** Create a webhook endpoint. It receives the events committed from now on. The secret is shown only here. A workspace has at most 10 endpoints. */
  readonly createWebhookEndpoint: (input: { /** Public HTTPS address that receives the events, on port 443 or from 1024 on. Private, loopback and link-local addresses are refused; redirects are not followed. */ readonly url: string; /** The workspace whose events it receives. */ readonly workspaceId: string; /** What the endpoint is for. */ readonly description?: string; /** The event types it receives; empty for every type. `endpoint.test` is always sent. */ readonly eventTypes?: readonly ('task.created' | 'task.updated' | 'task.completed' | 'task.archived' | 'task.deleted' | 'project.created' | 'project.updated' | 'project.completed' | 'project.archived' | 'project.deleted' | 'comment.created' | 'comment.updated' | 'comment.deleted')[]; }, options?: OperationOptions) => Promise<{ readonly ok: true; /** A webhook endpoint, without its secret. */ readonly endpoint: WebhookEndpoint; /** Verifies the signatures of deliveries. Shown only here: keep it now, and keep it secret. */ readonly secret: string; }>;

  /** Delete a webhook endpoint. Its delivery history is deleted too. An attempt that has begun may still arrive. */
  readonly deleteWebhookEndpoint: (input: { /** The endpoint. */ readonly id: string; }, options?: CallOptions) => Promise<{ readonly ok: true; }>;

  /** Read a webhook endpoint. */
  readonly getWebhookEndpoint: (input: { /** The endpoint. */ readonly id: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** A webhook endpoint, without its secret. */ readonly endpoint: WebhookEndpoint; }>;

  /** List the attempts of a delivery. */
  readonly listWebhookAttempts: (input: { /** The endpoint. */ readonly id: string; /** The delivery. */ readonly deliveryId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** The newest first. */ readonly attempts: readonly WebhookAttempt[]; }>;

  /** List the deliveries of an endpoint. The newest first. Deliveries are kept for 30 days. */
  readonly listWebhookDeliveries: (input: { /** The endpoint. */ readonly id: string; /** How many. */ readonly limit?: number; /** Only those created before: the `createdAt` of the last delivery of the page before. */ readonly before?: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** The newest first. */ readonly deliveries: readonly WebhookDelivery[]; }>;

  /** List the webhook endpoints of a workspace. For owners and admins of the workspace. */
  readonly listWebhookEndpoints: (input: { /** Of which workspace. */ readonly workspaceId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** The oldest first. */ readonly endpoints: readonly WebhookEndpoint[]; }>;

  /** List the event types. */
  readonly listWebhookEventTypes: (input?: Readonly<Record<string, never>>, options?: CallOptions) => Promise<{ readonly ok: true; /** Every type except `endpoint.test`. */ readonly eventTypes: readonly string[]; }>;

  /** Attempt failed deliveries once more. Each delivery that failed for good and was created since then gets one more attempt, a few at a time. Those that are `pending` keep their schedule and are not counted. */
  readonly replayWebhookDeliveries: (input: { /** The endpoint. */ readonly id: string; /** Deliveries created at or after this time. */ readonly since: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** How many deliveries. */ readonly count: number; }>;

  /** Attempt a delivery once more. Now, whatever its status. If that attempt fails, the schedule of a pending delivery continues, and any other delivery is `failed`. While the endpoint is disabled this is 409. */
  readonly retryWebhookDelivery: (input: { /** The endpoint. */ readonly id: string; /** The delivery. */ readonly deliveryId: string; }, options?: CallOptions) => Promise<{ readonly ok: true; /** One event for one endpoint. */ readonly delivery: WebhookDelivery; }>;

  /** Rotate the signing secret. The new secret is shown only here. For 24 hours each delivery is signed with the secret before as well. At most 5 secrets are in force at a time; one more is 409. */
  readonly rotateWebhookSecret: (input: { /** The endpoint. */ readonly id: string; }, options?: OperationOptions) => Promise<{ readonly ok: true; /** A webhook endpoint, without its secret. */ readonly endpoint: WebhookEndpoint; /** Verifies the signatures of deliveries. Shown only here: keep it now, and keep it secret. */ readonly secret: string; }>;

  /** Send a test event. Queues an `endpoint.test` event behind the events that wait already, signed like them. While the endpoint is disabled this is 409. */
  readonly testWebhookEndpoint: (input: { /** The endpoint. */ readonly id: string; }, options?: OperationOptions) => Promise<{ readonly ok: true; /** One event for one endpoint. */ readonly delivery: WebhookDelivery; }>;

  /** Change a webhook endpoint. Pending deliveries go to the new `url`. `enabled: true` clears the failure count and resumes pending deliveries; `enabled: false` keeps them. */
  readonly updateWebhookEndpoint: (input: { /** The endpoint. */ readonly id: string; /** Public HTTPS address that receives the events, on port 443 or from 1024 on. Private, loopback and link-local addresses are refused; redirects are not followed. */ readonly url?: string; /** What the endpoint is for. */ readonly description?: string; /** The event types it receives; empty for every type. `endpoint.test` is always sent. */ readonly eventTypes?: readonly ('task.created' | 'task.updated' | 'task.completed' | 'task.archived' | 'task.deleted' | 'project.created' | 'project.updated' | 'project.completed' | 'project.archived' | 'project.deleted' | 'comment.created' | 'comment.updated' | 'comment.deleted')[]; /** True enables it again and clears the failure count. */ readonly enabled?: boolean; }, options?: CallOptions) => Promise<{ readonly ok: true; /** A webhook endpoint, without its secret. */ readonly endpoint: WebhookEndpoint; }>;
}
