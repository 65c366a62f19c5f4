import { Project, User, Workspace, type Model, type Values } from '@wts/models';
import type { GraphQLFieldResolver } from 'graphql';
import { STEPS, type SentAgain, type Step } from '../commands/changes.ts';
import type { WorkspaceCommands } from '../commands/workspaces.ts';
import type { BatchResult, Result, Writes } from '../commands/writes.ts';
import type { RequestContext } from './request-context.ts';
import { isHiddenByProject, OPERATIONS, type Operations } from './inputs/operations.ts';
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
  const { model, noun, verbs } = operations;
  const one = async (result: Promise<Result>, step?: Step): Promise<object> =>
    payloadOf(operations, await result, step);
  const several = async (result: Promise<BatchResult>, step?: Step): Promise<object> =>
    batchPayloadOf(operations, await result, step);
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
  const steps = (Object.keys(STEPS) as Step[])
    .filter((step) => verbs.has(step))
    .map((step): Fields => ({
      [`${noun}${step}`]: by((writes, { id, day, ...again }: { readonly day?: string | null } & One) =>
        one(writes.step(model, { id, step, day }, again), step),
      ),
      [`${noun}Batch${step}`]: by((writes, { ids, ...again }: Several) =>
        several(writes.stepAll(model, { ids, step }, again), step),
      ),
    }));
  return Object.assign({}, verbs.has('Create') ? create : {}, verbs.has('Update') ? update : {}, ...steps) as Fields;
}

function payloadOf(
  { model, noun }: Pick<Operations, 'model' | 'noun'>,
  { record, ...result }: Result,
  step?: Step,
): object {
  // Only the newest task of a series has its rule.
  const seriesEnded = step === 'Delete' && typeof record?.['repeatRule'] === 'string';
  const payload = { ...result, [noun]: record, seriesEnded };
  return isHiddenByProject(model) ? { ...payload, hiddenBy: hiddenBy(record) } : payload;
}

/** The archived project of a record, which hides it. Keeps trash.restore.hidden. */
function hiddenBy(record: Result['record']): (given: object, context: RequestContext) => Promise<string | null> {
  return async (_given, { reads }) => {
    const projectId = record?.['projectId'];
    if (typeof projectId !== 'string') return null;
    const project = await reads.byId(Project, projectId);
    return (project?.['archivedAt'] ?? null) === null ? null : projectId;
  };
}

function batchPayloadOf(operations: Operations, { results, ...batch }: BatchResult, step: Step | undefined): object {
  return {
    ...batch,
    results: results.map((result) => payloadOf(operations, result, step)),
    [operations.model.plural]: results.flatMap(({ record }) => record ?? []),
  };
}

/** Fields whose arguments a command takes. */
function commands(names: Readonly<Record<string, keyof WorkspaceCommands>>): Fields {
  return Object.fromEntries(
    Object.entries(names).map(([field, command]) => [
      field,
      by(({ workspaces }, given: never) => workspaces[command](given)),
    ]),
  );
}

const WORKSPACE_QUERIES = commands({
  apiKeys: 'listApiKeys',
  invitations: 'listInvitations',
  securityEvents: 'listSecurityEvents',
  privateProjects: 'listPrivateProjects',
  privateProjectMembers: 'listPrivateProjectMembers',
});

const WORKSPACE_MUTATIONS = commands({
  apiKeyCreate: 'createApiKey',
  apiKeyRevoke: 'revokeApiKey',
  workspaceCreate: 'createWorkspace',
  workspaceJoin: 'joinWorkspace',
  memberRemove: 'removeMember',
  invitationCreate: 'createInvitation',
  invitationDelete: 'deleteInvitation',
  privateProjectMemberAdd: 'addPrivateProjectMember',
  privateProjectMemberRemove: 'removePrivateProjectMember',
});

const OF_WORKSPACE = { model: Workspace, noun: 'workspace' };

/** The mutations of the Trash, and of workspaces that are deleted and restored. */
const TRASH_MUTATIONS: Fields = {
  trashEmpty: by((writes, given: { readonly workspaceId: string; readonly count: number }) => writes.emptyTrash(given)),
  workspaceDelete: by(
    async (writes, { id, urlKey, ...again }: { readonly id: string; readonly urlKey: string } & SentAgain) =>
      payloadOf(OF_WORKSPACE, await writes.deleteWorkspace({ id, urlKey }, again)),
  ),
  workspaceRestore: by(async (writes, { id, ...again }: One) =>
    payloadOf(OF_WORKSPACE, await writes.step(Workspace, { id, step: 'Unarchive' }, again)),
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
  SecurityEvent: { user: referenceTo(User, 'userId') },
  PrivateProjectMember: { user: referenceTo(User, 'userId') },
  Query: WORKSPACE_QUERIES,
  Mutation: {
    ...(Object.assign({}, ...OPERATIONS.map(mutationsOf)) as Fields),
    ...WORKSPACE_MUTATIONS,
    ...TRASH_MUTATIONS,
  },
};
