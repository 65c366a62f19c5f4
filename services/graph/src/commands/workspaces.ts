import { apiKeyApi, isUuid, memberApi, privateProjectApi, workspaceApi } from '@wts/contracts';
import type {
  ApiKey,
  Contract,
  Invitation,
  InvitableRole,
  KeyPermissions,
  OpenInvitation,
  Role,
  Workspace,
} from '@wts/contracts';
import type { ServiceCallOptions, ServiceClient } from '@wts/service-kit/call';
import { createHash } from 'node:crypto';
import type { Caller } from '../domain/caller.ts';
import type { Reads } from '../queries/reads.ts';
import { wrongClientText } from './mutate.ts';
import { orRefused, refused, type Refused } from './outcome.ts';
import type { WrongCodes } from './wrong-codes.ts';

/** The ids that a command was given, by their names, and the name of the change. */
type Names = Readonly<Record<string, string | null | undefined>>;

type ClientTxId = string | null | undefined;

/** The services that decide about workspaces and keys. */
export interface WorkspaceServices {
  readonly workspace: ServiceClient;
  readonly auth: ServiceClient;
  readonly wrongCodes: WrongCodes;
}

type CommandOptions<C> = Omit<ServiceCallOptions<C>, 'principal' | 'requestId' | 'signal'>;

export interface NewKey {
  readonly label: string;
  readonly permissions: KeyPermissions;
  readonly expiresAt?: string | null;
  readonly workspaceId?: string | null;
}

/** What every refused command answers. */
type Failed = { readonly success: false; readonly error: Refused['error'] };
type Answer<T> = ({ readonly success: true; readonly error: null } & T) | Failed;

/**
 * What the workspace service decides, and for API keys the auth service, asked with the caller's own principal: they check the scope
 * and the role as they do for REST. A refusal is part of the answer. Keeps graphql.writes.workspaces.
 */
export class WorkspaceCommands {
  readonly #services: WorkspaceServices;
  readonly #caller: Caller;
  readonly #reads: Reads;

  constructor(services: WorkspaceServices, caller: Caller, reads: Reads) {
    this.#services = services;
    this.#caller = caller;
    this.#reads = reads;
  }

  // What can be read.

  async apiKeys(workspaceId: string | null | undefined): Promise<readonly ApiKey[]> {
    const query = typeof workspaceId === 'string' ? { workspaceId } : {};
    return (await this.#callAuth(apiKeyApi.listApiKeys, { query })).keys;
  }

  async invitations(workspaceId: string): Promise<readonly Invitation[]> {
    return (await this.#call(memberApi.listInvitations, { params: { workspaceId } })).invitations;
  }

  async privateProjects({ workspaceId, ...page }: { workspaceId: string } & PageArguments) {
    const query = pageOf(page);
    const { projects, hasMore } = await this.#call(privateProjectApi.listPrivateProjects, {
      params: { workspaceId },
      query,
    });
    return { nodes: projects, hasMore };
  }

  async privateProjectMembers({
    workspaceId,
    projectId,
    ...page
  }: { workspaceId: string; projectId: string } & PageArguments) {
    const query = pageOf(page);
    const { members, hasMore } = await this.#call(privateProjectApi.listPrivateProjectMembers, {
      params: { workspaceId, projectId },
      query,
    });
    return { nodes: members, hasMore };
  }

  // What can be changed.

  async createApiKey(
    { label, permissions, workspaceId, expiresAt }: NewKey,
    clientTxId: ClientTxId,
  ): Promise<Answer<{ readonly apiKey: ApiKey; readonly token: string }>> {
    const made = await this.#try({ workspaceId, clientTxId }, () =>
      this.#callAuth(apiKeyApi.internalCreateApiKey, {
        body: {
          label,
          permissions,
          ...(typeof workspaceId === 'string' ? { workspaceId } : {}),
          ...(typeof expiresAt === 'string' ? { expiresAt } : {}),
        },
        ...again(clientTxId),
      }),
    );
    if (!made.ok) return failed(made);
    const { token, ...apiKey } = made.value.key;
    return { success: true, error: null, apiKey, token };
  }

  async revokeApiKey(id: string, includeMade: boolean): Promise<Answer<object>> {
    const query = { includeMade: includeMade ? ('true' as const) : ('false' as const) };
    return done(
      await this.#try({ id }, () => this.#callAuth(apiKeyApi.revokeApiKey, { params: { keyId: id }, query })),
    );
  }

  async createWorkspace(
    { name, urlKey, logoUrl }: { readonly name: string; readonly urlKey: string; readonly logoUrl?: string | null },
    clientTxId: ClientTxId,
  ): Promise<Answer<{ readonly workspace: object; readonly role: Role }>> {
    const body = { name, urlKey, ...(typeof logoUrl === 'string' ? { logoUrl } : {}) };
    return accessOf(
      await this.#try({ clientTxId }, () => this.#call(workspaceApi.createWorkspace, { body, ...again(clientTxId) })),
    );
  }

  async joinWorkspace(
    code: string,
    clientTxId: ClientTxId,
  ): Promise<Answer<{ readonly workspace: object; readonly role: Role }>> {
    return accessOf(
      await this.#try({ clientTxId }, () =>
        this.#services.wrongCodes.attempt(this.#caller.principal.userId, () =>
          this.#call(memberApi.joinWorkspace, { body: { code }, ...again(clientTxId) }),
        ),
      ),
    );
  }

  async removeMember(params: {
    readonly workspaceId: string;
    readonly userId: string;
  }): Promise<Answer<object> & { readonly openInvitations: readonly OpenInvitation[] }> {
    const removed = await this.#try(params, () => this.#call(memberApi.removeMember, { params }));
    if (!removed.ok) return { ...failed(removed), openInvitations: [] };
    return { success: true, error: null, openInvitations: removed.value.openInvitations };
  }

  async createInvitation(
    workspaceId: string,
    input: {
      readonly email?: string | null;
      readonly role?: Role | null;
      readonly expiresInDays?: number | null;
    },
    clientTxId: ClientTxId,
  ): Promise<Answer<{ readonly invitation: Invitation; readonly code: string }>> {
    const given = Object.entries(input).filter(([, value]) => (value ?? null) !== null);
    const body = Object.fromEntries(given) as { email?: string; role?: InvitableRole; expiresInDays?: number };
    const made = await this.#try({ workspaceId, clientTxId }, () =>
      this.#call(memberApi.createInvitation, { params: { workspaceId }, body, ...again(clientTxId) }),
    );
    if (!made.ok) return failed(made);
    const { code, ...invitation } = made.value.invitation;
    return { success: true, error: null, invitation, code };
  }

  async deleteInvitation(params: {
    readonly workspaceId: string;
    readonly invitationId: string;
  }): Promise<Answer<object>> {
    return done(await this.#try(params, () => this.#call(memberApi.deleteInvitation, { params })));
  }

  async addPrivateProjectMember({ userId, ...params }: ProjectPerson): Promise<Answer<{ readonly member: object }>> {
    const added = await this.#try({ ...params, userId }, () =>
      // The person is in the project once, however often this is sent.
      this.#call(privateProjectApi.addPrivateProjectMember, { params, body: { userId }, idempotent: true }),
    );
    return added.ok ? { success: true, error: null, member: added.value.member } : failed(added);
  }

  async removePrivateProjectMember(params: ProjectPerson): Promise<Answer<object>> {
    return done(
      await this.#try({ ...params }, () => this.#call(privateProjectApi.removePrivateProjectMember, { params })),
    );
  }

  /** The value of a command, or its refusal. A successful one may change what the rest of the request reads. */
  async #try<T>(
    { clientTxId, ...ids }: Names,
    call: () => Promise<T>,
  ): Promise<{ readonly ok: true; readonly value: T } | Refused> {
    const wrong = Object.entries(ids).find(([, id]) => (id ?? null) !== null && !isUuid(id));
    if (wrong) return refused('BAD_USER_INPUT', `${wrong[0]} must be a UUID`);
    const refusal = typeof clientTxId === 'string' ? wrongClientText('clientTxId', clientTxId) : null;
    if (refusal !== null) return refusal;
    const outcome = await orRefused(call());
    if (outcome.ok) this.#reads.refresh();
    return outcome;
  }

  #call<C extends Contract>(contract: C, options: CommandOptions<C>) {
    return this.#callOn(this.#services.workspace, contract, options);
  }

  #callAuth<C extends Contract>(contract: C, options: CommandOptions<C>) {
    return this.#callOn(this.#services.auth, contract, options);
  }

  #callOn<C extends Contract>(service: ServiceClient, contract: C, options: CommandOptions<C>) {
    const { principal, requestId, signal } = this.#caller;
    return service.call(contract, { principal, requestId, signal, ...options });
  }
}

export interface ProjectPerson {
  readonly workspaceId: string;
  readonly projectId: string;
  readonly userId: string;
}

export interface PageArguments {
  readonly after?: string | null;
  readonly limit?: number | null;
}

function pageOf({ after, limit }: PageArguments): { after?: string; limit?: number } {
  return {
    ...(typeof after === 'string' ? { after } : {}),
    ...(typeof limit === 'number' ? { limit: Math.max(1, limit) } : {}),
  };
}

function failed({ error }: Refused): Failed {
  return { success: false, error };
}

function done(outcome: { readonly ok: true } | Refused): Answer<object> {
  return outcome.ok ? { success: true, error: null } : failed(outcome);
}

function accessOf(
  outcome: { readonly ok: true; readonly value: { readonly workspace: Workspace } } | Refused,
): Answer<{ readonly workspace: object; readonly role: Role }> {
  if (!outcome.ok) return failed(outcome);
  const { role } = outcome.value.workspace;
  return { success: true, error: null, workspace: { ...outcome.value.workspace, __typename: 'Workspace' }, role };
}

/** The key under which a repeated request gets the first reply; with a hash, any name of a change is a valid key. */
function again(clientTxId: ClientTxId): { idempotencyKey?: string; idempotent?: boolean } {
  if (typeof clientTxId !== 'string') return {};
  return { idempotencyKey: `graphql-${createHash('sha256').update(clientTxId).digest('hex')}`, idempotent: true };
}
