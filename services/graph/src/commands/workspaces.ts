import { accessApi, apiKeyApi, isUuid, memberApi, privateProjectApi, workspaceApi } from '@wts/contracts';
import type { ApiKey, BodyOf, Contract, Invitation, Role, Workspace } from '@wts/contracts';
import type { ServiceCallOptions, ServiceClient } from '@wts/service-kit/call';
import { createHash } from 'node:crypto';
import type { Caller } from '../domain/caller.ts';
import type { Reads } from '../queries/reads.ts';
import { wrongClientText } from './mutate.ts';
import { orRefused, refused, type Refused } from './outcome.ts';

/** The services that decide about workspaces and keys. */
export interface WorkspaceServices {
  readonly workspace: ServiceClient;
  readonly auth: ServiceClient;
}

type CommandOptions<C> = Omit<ServiceCallOptions<C>, 'principal' | 'requestId' | 'signal'>;

/** The caller's name for a change, under which it may be sent again. */
interface Named {
  readonly clientTxId?: string | null | undefined;
}

/** A body as GraphQL has it: what may be left out may be null. */
type Given<Body> = { readonly [Name in keyof Body]: undefined extends Body[Name] ? Body[Name] | null : Body[Name] };

interface OfWorkspace {
  readonly workspaceId: string;
}

interface OfProject extends OfWorkspace {
  readonly projectId: string;
}

interface ProjectPerson extends OfProject {
  readonly userId: string;
}

interface PageArguments {
  readonly after?: string | null;
  readonly limit?: number | null;
}

/** What every refused command answers. */
type Failed = { readonly success: false; readonly error: Refused['error'] };
type Answer<T> = ({ readonly success: true; readonly error: null } & T) | Failed;

/**
 * What the workspace service decides, and for API keys the auth service, asked with the caller's own principal: they check the scope
 * and the role as they do for REST. A refusal is part of the answer. Each command takes the arguments of its field. Keeps
 * graphql.writes.workspaces.
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

  async listApiKeys({ workspaceId }: Partial<OfWorkspace>): Promise<readonly ApiKey[]> {
    return (await this.#callAuth(apiKeyApi.listApiKeys, { query: given({ workspaceId }) })).keys;
  }

  async listInvitations({ workspaceId }: OfWorkspace): Promise<readonly Invitation[]> {
    return (await this.#call(memberApi.listInvitations, { params: { workspaceId } })).invitations;
  }

  async listSecurityEvents({
    workspaceId,
    before,
    limit,
  }: OfWorkspace & { readonly before?: string | null; readonly limit?: number | null }) {
    const query = { ...pageOf({ limit: limit ?? null }), ...given({ before }) };
    const { events: nodes, next } = await this.#callAuth(accessApi.listSecurityEvents, {
      params: { workspaceId },
      query,
    });
    return { nodes, next };
  }

  async listPrivateProjects({ workspaceId, ...page }: OfWorkspace & PageArguments) {
    const options = { params: { workspaceId }, query: pageOf(page) };
    const { projects: nodes, hasMore } = await this.#call(privateProjectApi.listPrivateProjects, options);
    return { nodes, hasMore };
  }

  async listPrivateProjectMembers({ workspaceId, projectId, ...page }: OfProject & PageArguments) {
    const options = { params: { workspaceId, projectId }, query: pageOf(page) };
    const { members: nodes, hasMore } = await this.#call(privateProjectApi.listPrivateProjectMembers, options);
    return { nodes, hasMore };
  }

  // What can be changed.

  createApiKey({
    clientTxId,
    ...key
  }: Given<BodyOf<typeof apiKeyApi.internalCreateApiKey>> & Named): Promise<
    Answer<{ readonly apiKey: ApiKey; readonly token: string }>
  > {
    const { workspaceId } = key;
    return this.#answer(
      { workspaceId, clientTxId },
      () => this.#callAuth(apiKeyApi.internalCreateApiKey, { body: given(key), ...repeatable(clientTxId) }),
      ({ key: { token, ...apiKey } }) => ({ apiKey, token }),
    );
  }

  revokeApiKey({ id, includeMade }: { readonly id: string; readonly includeMade?: boolean | null }) {
    const query = { includeMade: includeMade ? ('true' as const) : ('false' as const) };
    return this.#answer({ id }, () => this.#callAuth(apiKeyApi.revokeApiKey, { params: { keyId: id }, query }), done);
  }

  createWorkspace({
    input,
    clientTxId,
  }: { readonly input: Given<BodyOf<typeof workspaceApi.createWorkspace>> } & Named) {
    return this.#answer(
      { clientTxId },
      () => this.#call(workspaceApi.createWorkspace, { body: given(input), ...repeatable(clientTxId) }),
      accessOf,
    );
  }

  joinWorkspace({ code, clientTxId }: { readonly code: string } & Named) {
    const join = () => this.#call(memberApi.joinWorkspace, { body: { code }, ...repeatable(clientTxId) });
    return this.#answer({ clientTxId }, join, accessOf);
  }

  async removeMember(params: OfWorkspace & { readonly userId: string }) {
    const call = () => this.#call(memberApi.removeMember, { params });
    const removed = await this.#answer({ ...params }, call, ({ openInvitations }) => ({ openInvitations }));
    return { openInvitations: [], ...removed };
  }

  createInvitation({
    workspaceId,
    input,
    clientTxId,
  }: OfWorkspace & { readonly input?: Given<BodyOf<typeof memberApi.createInvitation>> | null } & Named) {
    const options = { params: { workspaceId }, body: given(input ?? {}), ...repeatable(clientTxId) };
    return this.#answer(
      { workspaceId, clientTxId },
      () => this.#call(memberApi.createInvitation, options),
      ({ invitation: { code, ...invitation } }) => ({ invitation, code }),
    );
  }

  deleteInvitation({ workspaceId, id }: OfWorkspace & { readonly id: string }) {
    const params = { workspaceId, invitationId: id };
    return this.#answer({ ...params }, () => this.#call(memberApi.deleteInvitation, { params }), done);
  }

  addPrivateProjectMember({ userId, ...params }: ProjectPerson) {
    // The person is in the project once, however often this is sent.
    const options = { params, body: { userId }, idempotent: true };
    const call = () => this.#call(privateProjectApi.addPrivateProjectMember, options);
    return this.#answer({ ...params, userId }, call, ({ member }) => ({ member }));
  }

  removePrivateProjectMember(params: ProjectPerson) {
    const call = () => this.#call(privateProjectApi.removePrivateProjectMember, { params });
    return this.#answer({ ...params }, call, done);
  }

  /**
   * What a command answers: parts of the reply, or its refusal. A successful one may change what the rest of the request reads. The
   * first argument has the ids that the command was given.
   */
  async #answer<Reply, Parts extends object>(
    { clientTxId, ...ids }: Named & Readonly<Record<string, string | null | undefined>>,
    call: () => Promise<Reply>,
    partsOf: (reply: Reply) => Parts,
  ): Promise<Answer<Parts>> {
    const wrong = Object.entries(ids).find(([, id]) => (id ?? null) !== null && !isUuid(id));
    if (wrong) return failed(refused('BAD_USER_INPUT', `${wrong[0]} must be a UUID`));
    const refusal = typeof clientTxId === 'string' ? wrongClientText('clientTxId', clientTxId) : null;
    if (refusal !== null) return failed(refusal);
    const outcome = await orRefused(call());
    if (!outcome.ok) return failed(outcome);
    this.#reads.refresh();
    return { success: true, error: null, ...partsOf(outcome.value) };
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

type Present<T> = { [Name in keyof T as T[Name] extends NonNullable<T[Name]> ? Name : never]: T[Name] } & {
  [Name in keyof T as T[Name] extends NonNullable<T[Name]> ? never : Name]?: NonNullable<T[Name]>;
};

/** Only the values that are given, because null is a value in REST. */
function given<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => (value ?? null) !== null)) as Present<T>;
}

function pageOf({ after, limit }: PageArguments) {
  return given({ after, limit: typeof limit === 'number' ? Math.max(1, limit) : null });
}

function failed({ error }: Refused): Failed {
  return { success: false, error };
}

function done(): object {
  return {};
}

function accessOf({ workspace }: { readonly workspace: Workspace }): {
  readonly workspace: object;
  readonly role: Role;
} {
  return { workspace: { ...workspace, __typename: 'Workspace' }, role: workspace.role };
}

/** The key under which a repeated request gets the first reply; with a hash, any name of a change is a valid key. */
function repeatable(clientTxId: Named['clientTxId']): { idempotencyKey?: string; idempotent?: boolean } {
  if (typeof clientTxId !== 'string') return {};
  return { idempotencyKey: `graphql-${createHash('sha256').update(clientTxId).digest('hex')}`, idempotent: true };
}
