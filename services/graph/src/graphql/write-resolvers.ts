import { Project, User, Workspace, type Model, type Values } from '@wts/models';
import type { GraphQLFieldResolver } from 'graphql';
import type { Changes, SentAgain } from '../commands/changes.ts';
import type { Change } from '../commands/mutate.ts';
import { sendCreates, sendUpdates, type SendInOrder } from '../commands/placed-batch.ts';
import type { WorkspaceCommands } from '../commands/workspaces.ts';
import type { BatchResult, Result, Writes } from '../commands/writes.ts';
import type { RequestContext, Resolvers } from './request-context.ts';
import { isHiddenByProject, OPERATIONS, type Operations, type Verb } from './inputs/operations.ts';

type Fields = Record<string, GraphQLFieldResolver<never, RequestContext, never>>;

/** The resolver of a field that only the commands of the request decide. */
function by<Arguments>(
  resolve: (writes: Writes, given: Arguments) => unknown,
): GraphQLFieldResolver<unknown, RequestContext, Arguments> {
  return (_source, given, { writes }) => resolve(writes, given);
}

/** The arguments of a mutation of one record; each verb has some of them. */
interface One extends SentAgain {
  readonly id: string;
  readonly input: Values;
  readonly day?: string | null;
}

/** Those of a batch. */
interface Several extends Pick<One, 'input'>, SentAgain {
  readonly ids: readonly string[];
  readonly inputs: readonly Values[];
}

const IN_ORDER: Readonly<Partial<Record<Verb, SendInOrder>>> = { Create: sendCreates, Update: sendUpdates };

/** The mutations of a model, by their names, as `inputs/model-inputs.ts` declares them. */
function mutationsOf(operations: Operations): Fields {
  const { model, noun, verbs } = operations;
  const fields = [...verbs].flatMap((verb): [string, Fields[string]][] => {
    const changeOf = (changes: Changes, { id, input, day }: One, index = 0): Change => {
      if (verb === 'Create') return changes.create(input, index);
      return verb === 'Update' ? changes.update(id, input, index) : changes.step(id, { step: verb, day }, index);
    };
    const one = by(async (writes, given: One) => {
      const result = await writes.one(model, given, (changes) => changeOf(changes, given));
      return payloadOf(operations, result, verb);
    });
    const several = by(async (writes, { ids, inputs, ...given }: Several) => {
      const each = verb === 'Create' ? inputs.map((input) => ({ id: '', input })) : ids.map((id) => ({ ...given, id }));
      const make = (changes: Changes): Change[] => each.map((item, index) => changeOf(changes, item, index));
      return batchPayloadOf(operations, await writes.all(model, given, make, IN_ORDER[verb]), verb);
    });
    return [
      [`${noun}${verb}`, one],
      [`${noun}Batch${verb}`, several],
    ];
  });
  return Object.fromEntries(fields);
}

function payloadOf(
  { model, noun }: Pick<Operations, 'model' | 'noun'>,
  { record, ...result }: Result,
  verb?: Verb,
): object {
  // Only the newest task of a series has its rule.
  const seriesEnded = verb === 'Delete' && typeof record?.['repeatRule'] === 'string';
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

function batchPayloadOf(operations: Operations, { results, ...batch }: BatchResult, verb: Verb): object {
  return {
    ...batch,
    results: results.map((result) => payloadOf(operations, result, verb)),
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
      payloadOf(OF_WORKSPACE, await writes.one(Workspace, again, (changes) => changes.archive(id, { urlKey }))),
  ),
  workspaceRestore: by(async (writes, { id, ...again }: Pick<One, 'id'> & SentAgain) =>
    payloadOf(OF_WORKSPACE, await writes.one(Workspace, again, (changes) => changes.step(id, { step: 'Unarchive' }))),
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
