import type { Model, Values } from '@wts/models';
import { User, Workspace } from '@wts/models';
import type { GraphQLFieldResolver } from 'graphql';
import { STEPS, type SentAgain, type Step } from '../commands/changes.ts';
import type { NewKey, PageArguments, ProjectPerson } from '../commands/workspaces.ts';
import type { BatchResult, Result, Writes } from '../commands/writes.ts';
import type { RequestContext } from './request-context.ts';
import { OPERATIONS, verbsOf, type Operations } from './inputs/operations.ts';
import type { Resolvers } from './resolvers.ts';

type Fields = Record<string, GraphQLFieldResolver<never, RequestContext, never>>;

/** The resolver of a field that only the commands of the request decide. */
function by<Arguments>(
  resolve: (writes: Writes, given: Arguments) => unknown,
): GraphQLFieldResolver<unknown, RequestContext, Arguments> {
  return (_source, given, { writes }) => resolve(writes, given);
}

type One = { readonly id: string } & SentAgain;
type Several = { readonly ids: readonly string[] } & SentAgain;

/** The mutations of a model, by their names, as `inputs/model-inputs.ts` declares them. */
function mutationsOf(operations: Operations): Fields {
  const { model, noun } = operations;
  const one = async (result: Promise<Result>): Promise<object> => payloadOf(noun, await result);
  const several = async (result: Promise<BatchResult>): Promise<object> => batchPayloadOf(model, noun, await result);
  const create: Fields = {
    [`${noun}Create`]: by((writes, { input, ...again }: { readonly input: Values } & SentAgain) =>
      one(writes.create(model, input, again)),
    ),
    [`${noun}BatchCreate`]: by((writes, { inputs, ...again }: { readonly inputs: readonly Values[] } & SentAgain) =>
      several(writes.createAll(model, inputs, again)),
    ),
  };
  const update: Fields = {
    [`${noun}Update`]: by((writes, { id, input, ...again }: { readonly input: Values } & One) =>
      one(writes.update(model, { id, input }, again)),
    ),
    [`${noun}BatchUpdate`]: by((writes, { ids, input, ...again }: { readonly input: Values } & Several) =>
      several(writes.updateAll(model, { ids, input }, again)),
    ),
  };
  const verbs = new Set(verbsOf(operations));
  const steps = (Object.keys(STEPS) as Step[])
    .filter((step) => verbs.has(step))
    .map((step): Fields => ({
      [`${noun}${step}`]: by((writes, { id, ...again }: One) => one(writes.step(model, { id, step }, again))),
      [`${noun}Batch${step}`]: by((writes, { ids, ...again }: Several) =>
        several(writes.stepAll(model, { ids, step }, again)),
      ),
    }));
  return Object.assign({}, operations.create ? create : {}, operations.update ? update : {}, ...steps) as Fields;
}

function payloadOf(noun: string, { record, ...result }: Result): object {
  return { ...result, [noun]: record };
}

function batchPayloadOf(model: Model, noun: string, { results, ...batch }: BatchResult): object {
  return {
    ...batch,
    results: results.map((result) => payloadOf(noun, result)),
    [model.plural]: results.flatMap(({ record }) => record ?? []),
  };
}

const WORKSPACE_QUERIES: Fields = {
  apiKeys: by(({ workspaces }, { workspaceId }: { readonly workspaceId?: string | null }) =>
    workspaces.apiKeys(workspaceId),
  ),
  invitations: by(({ workspaces }, { workspaceId }: { readonly workspaceId: string }) =>
    workspaces.invitations(workspaceId),
  ),
  privateProjects: by(({ workspaces }, given: { readonly workspaceId: string } & PageArguments) =>
    workspaces.privateProjects(given),
  ),
  privateProjectMembers: by(({ workspaces }, given: Omit<ProjectPerson, 'userId'> & PageArguments) =>
    workspaces.privateProjectMembers(given),
  ),
};

type NewInvitation = Parameters<Writes['workspaces']['createInvitation']>[1];
type NewWorkspace = Parameters<Writes['workspaces']['createWorkspace']>[0];
type Named = Pick<SentAgain, 'clientTxId'>;

const WORKSPACE_MUTATIONS: Fields = {
  apiKeyCreate: by(({ workspaces }, given: NewKey & Named) => workspaces.createApiKey(given, given.clientTxId)),
  apiKeyRevoke: by(
    ({ workspaces }, { id, includeMade }: { readonly id: string; readonly includeMade?: boolean | null }) =>
      workspaces.revokeApiKey(id, includeMade ?? false),
  ),
  workspaceCreate: by(({ workspaces }, { input, clientTxId }: { readonly input: NewWorkspace } & Named) =>
    workspaces.createWorkspace(input, clientTxId),
  ),
  workspaceJoin: by(({ workspaces }, { code, clientTxId }: { readonly code: string } & Named) =>
    workspaces.joinWorkspace(code, clientTxId),
  ),
  memberRemove: by(({ workspaces }, given: Omit<ProjectPerson, 'projectId'>) => workspaces.removeMember(given)),
  invitationCreate: by(
    (
      { workspaces },
      {
        workspaceId,
        input,
        clientTxId,
      }: { readonly workspaceId: string; readonly input?: NewInvitation | null } & Named,
    ) => workspaces.createInvitation(workspaceId, input ?? {}, clientTxId),
  ),
  invitationDelete: by(({ workspaces }, { workspaceId, id }: { readonly workspaceId: string; readonly id: string }) =>
    workspaces.deleteInvitation({ workspaceId, invitationId: id }),
  ),
  privateProjectMemberAdd: by(({ workspaces }, given: ProjectPerson) => workspaces.addPrivateProjectMember(given)),
  privateProjectMemberRemove: by(({ workspaces }, given: ProjectPerson) =>
    workspaces.removePrivateProjectMember(given),
  ),
};

/** The record that a field of another service names by its id, as the caller sees it. */
function referenceTo(model: Model, field: string): GraphQLFieldResolver<Record<string, unknown>, RequestContext> {
  return (source, _given, { reads }) => {
    const id = source[field];
    return typeof id === 'string' ? reads.byId(model, id) : null;
  };
}

/** The resolvers of everything that is changed, and of what other services keep. */
export const WRITE_RESOLVERS: Resolvers = {
  ApiKeyPermissions: { READ_ONLY: 'read-only', FULL_ACCESS: 'full-access' },
  ApiKey: { user: referenceTo(User, 'userId'), workspace: referenceTo(Workspace, 'workspaceId') },
  Invitation: { creator: referenceTo(User, 'createdBy'), workspace: referenceTo(Workspace, 'workspaceId') },
  PrivateProject: { lead: referenceTo(User, 'leadId'), creator: referenceTo(User, 'creatorId') },
  PrivateProjectMember: { user: referenceTo(User, 'userId') },
  Query: WORKSPACE_QUERIES,
  Mutation: { ...(Object.assign({}, ...OPERATIONS.map(mutationsOf)) as Fields), ...WORKSPACE_MUTATIONS },
};
