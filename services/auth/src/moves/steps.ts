import { servicePrincipal } from '@wts/access';
import {
  Fault,
  invitationMoveApi,
  syncApi,
  webhookApi,
  type BodyOf,
  type Contract,
  type CopiedRecord,
  type MovedEndpoint,
  type ReplyOf,
} from '@wts/contracts';
import { findModel, User } from '@wts/models';
import type { ServiceClient } from '@wts/service-kit/call';
import type { AskedCell } from '../directory/cell-directory.ts';
import type { PersonCopies } from '../directory/person-copies.ts';
import type { MoveStep } from '../domain/move-steps.ts';
import { onFault } from '../domain/on-fault.ts';
import type { CellStore } from '../store/cells.ts';
import type { MovePlace, StoredMove } from '../store/moves.ts';

export interface MoveContext {
  readonly source: AskedCell;
  readonly target: AskedCell;
  readonly copies: Pick<PersonCopies, 'copy' | 'copyAll'>;
  readonly workspaceCells: Pick<CellStore, 'setCell'>;
}

/** What one run of a step did. Without `isDone` it goes on from `at`. */
interface StepRun {
  readonly at: MovePlace;
  readonly records?: number;
  readonly isDone: boolean;
}

type Step = (context: MoveContext, move: StoredMove) => Promise<StepRun>;

const principal = servicePrincipal('auth');
/** Changes of the workspace wait meanwhile. 100,000 tasks take about six seconds. */
const DIGEST_MS_MAX = 30_000;
const done = (at: MovePlace): StepRun => ({ at, isDone: true });

function call<C extends Contract>(
  service: ServiceClient,
  contract: C,
  body: BodyOf<C>,
  options: { readonly timeoutMs?: number } = {},
): Promise<ReplyOf<C>> {
  return service.call(contract, { principal, body, idempotent: true, ...options });
}

/** Of a service that answers `not_found` for an operation that it does not have yet: it is being updated. */
function callUpdated<C extends Contract>(service: ServiceClient, contract: C, body: BodyOf<C>): Promise<ReplyOf<C>> {
  return call(service, contract, body).catch((cause: unknown) => {
    if (cause instanceof Fault && cause.code === 'not_found') throw new Fault('unavailable', { cause });
    throw cause;
  });
}

function dispatcherOf({ dispatcher, shard }: AskedCell): ServiceClient {
  if (dispatcher === null) throw new Error(`cell ${shard} has no dispatcher in CELLS`);
  return dispatcher;
}

const setState = (cell: AskedCell, body: BodyOf<typeof syncApi.internalSetMoving>) =>
  call(cell.sync, syncApi.internalSetMoving, body);

/** Each does a part of its work, bounded but where it compares, or puts all memberships, and may be repeated from the same place. */
export const STEPS: Readonly<Record<MoveStep, Step>> = {
  arrive: async ({ target }, { workspaceId }) => {
    await setState(target, { workspaceId, state: 'arriving' });
    return done({});
  },

  people: async (context, { workspaceId, at }) => {
    const { source } = context;
    const page = await readPage(source, { workspaceId, model: User.name, after: at.after });
    await context.copies.copyAll(page.records, context.target.shard);
    return nextPage(page.next, at, page.records.length);
  },

  copy: async (context, { workspaceId, at }) => {
    const models = syncApi.COPIED_MODELS;
    const page = await copyPage(context, { workspaceId, model: models[at.model ?? 0] ?? '', after: at.after });
    return nextModel(page, { ...at, from: at.from ?? page.lastSyncId }, models.length);
  },

  keys: async ({ source, target }, { workspaceId, at }) => {
    const { from = '0', after = '0' } = at;
    const body = { workspaceId, after, through: from, limit: syncApi.MOVE_KEYS_MAX };
    const page = await call(source.sync, syncApi.internalReadWorkspaceKeys, body);
    const { keys, usedGroups } = page;
    await put(target, { workspaceId, records: [], keys: [...keys], usedGroups: [...usedGroups] });
    return nextPage(page.more ? page.lastSyncId : null, at, 0);
  },

  follow: async (context, { workspaceId, at }) => followPage(context, workspaceId, at),

  // Attempts that are under way end before changes are refused, and each service that has to answer then has answered.
  stop: async ({ source, target }, { workspaceId, at }) => {
    const body = { workspaceId, limit: 1 };
    await callUpdated(target.workspace, invitationMoveApi.internalReadInvitations, body);
    for (const [cell, through] of [
      [target, '0'],
      [source, at.from ?? '0'],
    ] as const) {
      const taking = callUpdated(dispatcherOf(cell), webhookApi.internalTakeEndpoints, { ...body, through });
      await taking.catch(unlessNoWebhooks);
    }
    return done(at);
  },

  freeze: async ({ source }, { workspaceId, at }) => {
    const { lastSyncId: through } = await setState(source, { workspaceId, state: 'moving' });
    return done({ ...at, through });
  },

  last: async (context, { workspaceId, at }) => {
    if (at.model === undefined) {
      const run = await followPage(context, workspaceId, at);
      return run.isDone ? { ...run, at: { ...run.at, model: -1 }, isDone: false } : run;
    }
    // People who came since.
    if (at.model === -1) {
      const page = await readPage(context.source, { workspaceId, model: User.name, after: at.after });
      await context.copies.copyAll(page.records, context.target.shard);
      if (page.next !== null) return { at: { ...at, after: page.next }, isDone: false };
      const { after: _after, ...first } = at;
      return { at: { ...first, model: 0 }, isDone: false };
    }
    const models = syncApi.COPIED_LAST;
    const page = await copyPage(context, { workspaceId, model: models[at.model] ?? '', after: at.after });
    return nextModel(page, at, models.length);
  },

  compare: async (context, { workspaceId, at }) => {
    await requireEqual(context, workspaceId, [...syncApi.COPIED_MODELS, ...syncApi.COPIED_LAST]);
    // After the switch it is too late to find that memberships cannot be put.
    await putMemberships(context, { workspaceId }, { isCheck: true });
    return done(at);
  },

  invitations: async ({ source, target }, { workspaceId, at }) => {
    const { after } = at;
    const limit = invitationMoveApi.MOVED_INVITATIONS_MAX;
    const page = { workspaceId, limit, ...(after === undefined ? {} : { after }) };
    const { invitations } = await callUpdated(source.workspace, invitationMoveApi.internalReadInvitations, page);
    const body = { workspaceId, invitations: [...invitations], replace: after === undefined };
    await callUpdated(target.workspace, invitationMoveApi.internalPutInvitations, body);
    const last = invitations.at(-1);
    return nextPage(last === undefined || invitations.length < limit ? null : last.id, at, invitations.length);
  },

  endpoints: async ({ source, target }, { workspaceId, at }) => {
    const { through = '0', after } = at;
    const limit = webhookApi.MOVED_DELIVERIES_MAX;
    const page = { workspaceId, through, limit, ...(after === undefined ? {} : { after }) };
    const none = { endpoints: [] as readonly MovedEndpoint[], deliveries: [], next: null };
    const taken =
      (await callUpdated(dispatcherOf(source), webhookApi.internalTakeEndpoints, page).catch(unlessNoWebhooks)) ?? none;
    const { endpoints, deliveries, next } = taken;
    if (endpoints.length === 0) return nextPage(null, at, 0);
    const body = { workspaceId, endpoints: [...endpoints], deliveries: [...deliveries], isLast: next === null };
    await callUpdated(dispatcherOf(target), webhookApi.internalPutEndpoints, body);
    return nextPage(next, at, deliveries.length);
  },

  switch: async ({ workspaceCells, target }, { workspaceId, at }) => {
    await workspaceCells.setCell(workspaceId, target.shard);
    return done(at);
  },

  // All of them in one run: there is no way back, so a run after one that found a difference has to mend it.
  members: async (context, { workspaceId, at }) => {
    const records = await putMemberships(context, { workspaceId });
    await requireEqual(context, workspaceId, syncApi.COPIED_MEMBERSHIPS);
    return { ...done(at), records };
  },

  open: async ({ target }, { workspaceId, at }) => {
    await setState(target, { workspaceId, state: 'none' });
    return done(at);
  },

  leave: async ({ source, target }, { workspaceId, at }) => {
    await setState(source, { workspaceId, state: 'moved', baseUrl: target.baseUrl });
    await endEndpoints(source, { workspaceId, resume: false });
    return done(at);
  },

  release: async ({ source }, { workspaceId, at }) => {
    await setState(source, { workspaceId, state: 'none' });
    await endEndpoints(source, { workspaceId, resume: true });
    return done(at.from === undefined ? {} : { from: at.from });
  },

  restart: async ({ target }, { workspaceId }) => {
    await setState(target, { workspaceId, state: 'removed' }).catch(unlessNotThere);
    return done({});
  },

  thaw: async ({ source }, { workspaceId }) => {
    await setState(source, { workspaceId, state: 'none' }).catch(unlessNotThere);
    return done({});
  },

  clear: async ({ source, target }, { workspaceId }) => {
    await setState(target, { workspaceId, state: 'removed' }).catch(unlessNotThere);
    await endEndpoints(source, { workspaceId, resume: true });
    await endEndpoints(target, { workspaceId, resume: false });
    return done({});
  },
};

const endEndpoints = (cell: AskedCell, body: BodyOf<typeof webhookApi.internalEndEndpoints>) =>
  callUpdated(dispatcherOf(cell), webhookApi.internalEndEndpoints, body);

/** The workspace was deleted for good meanwhile, or never arrived: `conflict` when it is there by another way, which is not touched. */
const unlessNotThere = onFault(['not_found', 'conflict'], undefined);
const unlessNoWebhooks = onFault('webhooks_not_configured', null);

interface PageOfModel {
  readonly workspaceId: string;
  readonly model: string;
  readonly after: string | undefined;
}

type Page = ReplyOf<typeof syncApi.internalReadWorkspacePage>;

function readPage(cell: AskedCell, { after, ...page }: PageOfModel): Promise<Page> {
  const body = { ...page, limit: syncApi.MOVE_RECORDS_MAX, ...(after === undefined ? {} : { after }) };
  return call(cell.sync, syncApi.internalReadWorkspacePage, body);
}

/** Returns how many there are. */
async function putMemberships(
  { source, target }: MoveContext,
  { workspaceId }: Pick<StoredMove, 'workspaceId'>,
  check: { readonly isCheck?: true } = {},
): Promise<number> {
  let count = 0;
  for (const model of syncApi.COPIED_MEMBERSHIPS) {
    for (let after: string | undefined, isLast = false; !isLast;) {
      const { records, next } = await readPage(source, { workspaceId, model, after });
      await put(target, { workspaceId, records: [...records], ...check });
      count += records.length;
      [after, isLast] = [next ?? undefined, next === null];
    }
  }
  return count;
}

async function copyPage(context: MoveContext, page: PageOfModel): Promise<Page> {
  const read = await readPage(context.source, page);
  await put(context.target, { workspaceId: page.workspaceId, records: [...read.records] });
  return read;
}

function put(cell: AskedCell, body: BodyOf<typeof syncApi.internalPutRecords>): Promise<unknown> {
  return call(cell.sync, syncApi.internalPutRecords, body);
}

/** A put of nothing too: it shows that the other cell answers, before changes are refused for it. */
async function followPage(context: MoveContext, workspaceId: string, at: MovePlace): Promise<StepRun> {
  const { source, target, copies } = context;
  const body = { workspaceId, after: at.from ?? '0', limit: syncApi.MOVE_RECORDS_MAX };
  const page = await call(source.sync, syncApi.internalReadWorkspaceEntries, body);
  const people = new Set(page.records.flatMap(peopleOf));
  for (const userId of people) await copies.copy(userId, target.shard).catch(unlessUnknown);
  await put(target, { workspaceId, records: [...page.records], keys: [...page.keys] });
  return { at: { ...at, from: page.lastSyncId }, records: page.records.length, isDone: !page.more };
}

/** A service is no person, and creates records too. */
const unlessUnknown = onFault('not_found', undefined);

/** Whom a record names. */
function peopleOf({ model, record }: CopiedRecord): string[] {
  return Object.entries(findModel(model)?.fields ?? {}).flatMap(([field, { reference }]) => {
    const value = reference?.model === User.name ? record?.[field] : null;
    return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');
  });
}

/** Refuses a copy that differs. */
async function requireEqual(
  { source, target }: MoveContext,
  workspaceId: string,
  models: readonly string[],
): Promise<void> {
  const body = { workspaceId, models: [...models] };
  const digests = await Promise.all(
    [source, target].map((cell) =>
      call(cell.sync, syncApi.internalDigestWorkspace, body, { timeoutMs: DIGEST_MS_MAX }),
    ),
  );
  const [here, there] = digests.map((answer) => new Map(answer.models.map((one) => [one.model, one])));
  const different = [...(here?.values() ?? [])].filter(
    ({ model, count, digest }) => there?.get(model)?.digest !== digest || there.get(model)?.count !== count,
  );
  if (different.length === 0) return;
  const named = different.map(({ model, count }) => `${model} (${count} and ${there?.get(model)?.count ?? 0})`);
  throw new Fault('conflict', { message: `The copy is not equal in ${named.join(', ')}.` });
}

function nextPage(next: string | null, { after: _after, ...at }: MovePlace, records: number): StepRun {
  return next === null ? { at, records, isDone: true } : { at: { ...at, after: next }, records, isDone: false };
}

function nextModel(page: Page, { after: _after, model = 0, ...at }: MovePlace, models: number): StepRun {
  const records = page.records.length;
  if (page.next !== null) return { at: { ...at, model, after: page.next }, records, isDone: false };
  if (model + 1 < models) return { at: { ...at, model: model + 1 }, records, isDone: false };
  return { at, records, isDone: true };
}
