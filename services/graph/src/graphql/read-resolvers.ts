import { Fault, isStorableText, isUuid, LIMITS } from '@wts/contracts';
import { inversesOf, MODELS, modelNamed, relationsOf, singularOf, User, type Model, type Relation } from '@wts/models';
import { repeatText } from '@wts/models/words';
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import { invalid } from '../domain/errors.ts';
import { pageSizeOf } from '../domain/page-size.ts';
import type { RequestContext, Resolvers } from './request-context.ts';
import { connectionOf, type ConnectionArguments, type Found } from '../store/connection.ts';
import { historyCursorOf, historyRequestOf, type HistoryEntry } from '../store/history.ts';
import type { Reads, Scope } from '../queries/reads.ts';
import { wordsOf } from '../store/search.ts';
import { trashCursorOf, trashRequestOf, type TrashedTask } from '../store/trash.ts';
import { repeatPreview, type PreviewArguments } from './repeat-preview.ts';
import { ConnectionResult, EMPTY_PAGE } from './connection-result.ts';
import { selectsRecords, wantsOf } from './selection.ts';
import { SCALAR_RESOLVERS } from './types/scalars.ts';
import { SEARCHED } from './types/query.ts';

type Resolver<Source, Arguments> = GraphQLFieldResolver<Source, RequestContext, Arguments>;
type Fields = Record<string, Resolver<never, never>>;

interface Reached {
  readonly minSyncId?: string | null;
}

/** Reads at or after the position that the field names, if it does. */
function readsAt({ reads }: RequestContext, { minSyncId }: Reached): Reads {
  if (typeof minSyncId === 'string') reads.reach(minSyncId);
  return reads;
}

function rootResolvers(model: Model): Fields {
  const one: Resolver<unknown, Reached & { id: string }> = (_source, given, context, info) =>
    readsAt(context, given).byId(model, given.id, wantsOf(info));
  const page: Resolver<unknown, Reached & ConnectionArguments> = async (_source, given, context, info) => {
    const reads = readsAt(context, given);
    const connection = connectionOf(model, given, wantsOf(info));
    const found = selectsRecords(info) ? await reads.page(connection) : EMPTY_PAGE;
    return new ConnectionResult(connection, found, () => reads.total(connection));
  };
  return { [singularOf(model)]: one, [model.plural]: page };
}

function relationResolvers(model: Model): Fields {
  return {
    ...Object.fromEntries(
      relationsOf(model).map((relation): [string, Fields[string]] => [
        relation.name,
        relation.many ? connectionResolver(relation.target, { relation }) : recordResolver(relation),
      ]),
    ),
    ...Object.fromEntries(
      inversesOf(model).map((inverse) => [inverse.name, connectionResolver(inverse.source, { inverse })]),
    ),
    ...MORE[model.name],
  };
}

function recordResolver({ field, target }: Relation): Resolver<Found, object> {
  return (record, _given, { reads }, info) => {
    const id = record[field];
    return typeof id === 'string' ? reads.related(target, id, wantsOf(info)) : null;
  };
}

/** A connection inside records: the pages of all parents of a level are read together. */
function connectionResolver(model: Model, scope: Scope): Resolver<Found, ConnectionArguments> {
  return async (parent, given, { reads }, info) => {
    const [field = info] = info.fieldNodes;
    const level = reads.level(field, scope, () => connectionOf(model, given, wantsOf(info)));
    const page = selectsRecords(info) ? await level.page(parent) : EMPTY_PAGE;
    return new ConnectionResult(level.connection, page, () => level.total(parent));
  };
}

const roleIn: Resolver<Found, object> = ({ id }, _given, { reads }) => reads.roleIn(id);

/** Fields that the registry does not have. */
const MORE: Readonly<Record<string, Fields>> = {
  Task: { repeatText, key: ({ number }: { number: number }) => String(number), headingId: () => null },
  Workspace: { viewerRole: roleIn, role: roleIn },
};

interface SearchArguments extends Reached {
  readonly query: string;
  readonly first?: number | null;
  readonly types?: readonly string[] | null;
  readonly workspaceId?: string | null;
  readonly includeArchived?: boolean | null;
}

interface HistoryArguments extends Reached {
  readonly modelId: string;
  readonly first?: number | null;
  readonly after?: string | null;
}

/** The one record of a model with these values of a unique key. */
function byKey(model: Model, key: string): Resolver<unknown, Reached & Readonly<Record<string, string | number>>> {
  return async (_source, given, context, info) => {
    const filter = { workspaceId: { eq: given['workspaceId'] }, [key]: { eq: given[key] } };
    // Of private projects with the same key, the one of all is first, then the oldest.
    const orderBy = [...('isPrivate' in model.fields ? [{ isPrivate: 'ASC' }] : []), { createdAt: 'ASC' }];
    const one = { first: 1, filter, orderBy, includeArchived: true };
    return (await readsAt(context, given).page(connectionOf(model, one, wantsOf(info)))).records[0] ?? null;
  };
}

function rootFields(): Fields {
  const viewer: Resolver<unknown, Reached> = async (_source, given, context, info) => {
    const person = await readsAt(context, given).byId(User, context.principal.userId, wantsOf(info));
    if (person === null) throw new Fault('not_found', { message: 'The caller is no person' });
    return person;
  };
  const myWorkspaces: Resolver<unknown, Reached> = (_source, given, context) => readsAt(context, given).ownWorkspaces();
  const workspaceByUrlKey: Resolver<unknown, Reached & { urlKey: string }> = async (_source, given, context) =>
    isStorableText(given.urlKey) ? ((await readsAt(context, given).ownWorkspaces(given.urlKey))[0] ?? null) : null;
  const node: Resolver<unknown, { id: string }> = (_source, { id }, { reads }, info) => reads.node(id, wantsOf(info));
  const nodes: Resolver<unknown, { ids: readonly string[] }> = (_source, { ids }, { reads }, info) => {
    if (ids.length > LIMITS.graphPageMax) throw invalid(`ids has at most ${LIMITS.graphPageMax} ids`);
    return ids.map((id) => reads.node(id, wantsOf(info)));
  };
  return {
    viewer,
    myWorkspaces,
    workspaceByUrlKey,
    node,
    nodes,
    search,
    history,
    trash,
    repeatPreview: preview,
    taskByNumber: byKey(modelNamed('Task'), 'number'),
    teamByKey: byKey(modelNamed('Team'), 'key'),
    projectByKey: byKey(modelNamed('Project'), 'key'),
  };
}

const search: Resolver<unknown, SearchArguments> = async (_source, given, context, info) => {
  const limit = pageSizeOf(given.first);
  const words = wordsOf(given.query);
  if (words === null) throw invalid('query must not be blank');
  const { types, workspaceId, includeArchived } = given;
  if (typeof workspaceId === 'string' && !isUuid(workspaceId)) throw invalid('workspaceId is a UUID');
  if (types?.length === 0) return { hits: [], nodes: [] };
  const hits = await readsAt(context, given).search({
    models: types ? SEARCHED.filter(({ name }) => types.includes(name)) : SEARCHED,
    words,
    limit,
    workspaceId: workspaceId ?? null,
    includeArchived: includeArchived ?? false,
    wants: wantsOf(info),
  });
  return { hits, nodes: hits.map(({ record }) => record) };
};

/** The newest task of a series after this one. Keeps graphql.repeat.series. */
const next: Resolver<{ task: Found | null; syncId: string | null }, object> = async (
  { task, syncId },
  _given,
  { reads },
  info,
) => {
  const series = task?.['repeatTemplateId'];
  if (typeof series !== 'string') return null;
  if (syncId !== null) reads.reach(syncId);
  // By number, because a task and the next one may be created in the same millisecond.
  const filter = { repeatTemplateId: { eq: series }, number: { gt: task?.['number'] } };
  const newest = { first: 1, filter, orderBy: [{ createdAt: 'DESC' }], includeArchived: true };
  return (await reads.page(connectionOf(modelNamed('Task'), newest, wantsOf(info)))).records[0] ?? null;
};

const preview: Resolver<unknown, Reached & PreviewArguments> = (_source, given, context) => {
  readsAt(context, given);
  return repeatPreview(context, given);
};

const history: Resolver<unknown, HistoryArguments> = async (_source, given, context) => {
  const request = historyRequestOf(given);
  const { entries, hasMore } = await readsAt(context, given).history(request);
  return newestFirst(entries, historyCursorOf, { hasNextPage: hasMore, hasPreviousPage: request.before !== null });
};

/** A page of what is read from the newest on, as the schema shows it. */
function newestFirst<Node>(
  nodes: readonly Node[],
  cursorOf: (node: Node) => string,
  more: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean },
) {
  const edges = nodes.map((node) => ({ node, cursor: cursorOf(node) }));
  const ends = { startCursor: edges[0]?.cursor ?? null, endCursor: edges.at(-1)?.cursor ?? null };
  return { edges, nodes, pageInfo: { ...more, ...ends } };
}

interface TrashArguments extends Reached {
  readonly workspaceId: string;
  readonly first?: number | null;
  readonly after?: string | null;
}

const trash: Resolver<unknown, TrashArguments> = async (_source, given, context, info) => {
  const reads = readsAt(context, given);
  const request = trashRequestOf(given, wantsOf(info));
  const found = await reads.trash(request);
  const nodes = found.slice(0, request.limit);
  const more = { hasNextPage: found.length > nodes.length, hasPreviousPage: request.after !== null };
  return {
    ...newestFirst(nodes, trashCursorOf, more),
    totalCount: () => reads.trashCount(request.workspaceId),
    deletableCount: () => reads.deletableTrash(request.workspaceId),
  };
};

/** The resolvers of everything that is read. Fields without one are properties of their record. */
export const READ_RESOLVERS: Resolvers = {
  ...SCALAR_RESOLVERS,
  ...Object.fromEntries(MODELS.map((model) => [model.name, relationResolvers(model)])),
  TrashedTask: {
    archivedBy: ({ actorId }: TrashedTask, _given: object, { reads }: RequestContext, info: GraphQLResolveInfo) =>
      actorId === null ? null : reads.byId(User, actorId, wantsOf(info)),
  },
  TaskPayload: { next },
  HistoryEntry: {
    data: ({ data }: HistoryEntry, _given: object, { charge }: RequestContext) =>
      charge.text(JSON.stringify(data).length) ? data : {},
    actor: ({ actorId }: HistoryEntry, _given: object, { reads }: RequestContext, info: GraphQLResolveInfo) =>
      reads.byId(User, actorId, wantsOf(info)),
  },
  Query: { ...Object.fromEntries(MODELS.flatMap((model) => Object.entries(rootResolvers(model)))), ...rootFields() },
};
