import type { Snapshot, SyncClient } from '@wts/client';
import { CliFault } from '../fault.ts';
import { given } from '../options.ts';
import { peopleIn, type ExportRecord } from './model-rules.ts';

type BootstrapRequest = NonNullable<Parameters<SyncClient['bootstrap']>[0]>;

export interface WorkspaceFacts {
  readonly id: string;
  readonly urlKey: string;
  readonly name: string;
  readonly archivedAt: string | null;
}

/** A workspace of the caller and the groups that it may have. */
export interface FoundWorkspace {
  readonly workspace: WorkspaceFacts;
  readonly userId: string;
  /** The workspace, and all private projects of the caller. */
  readonly groups: readonly string[];
}

/** Groups in one request: more do not fit into a URL, so everything is read. */
const GROUPS_MAX = 150;
/** The caller's groups change while the workspace is read: then it is read again. */
const TRIES_MAX = 4;

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Read at this position of the log or later. */
  readonly firstSyncId?: string;
}

/** The workspace by its id, urlKey or name, also a deleted one. */
export async function findWorkspace(sync: SyncClient, word: string, options: ReadOptions): Promise<FoundWorkspace> {
  const { subscribedSyncGroups, records } = await openSnapshot(sync, { onlyModels: 'Workspace' }, options);
  const all: WorkspaceFacts[] = [];
  for await (const part of records) for (const one of part) if (one.__class === 'Workspace') all.push(one);
  const lower = word.toLowerCase();
  const isNamed = ({ id, urlKey, name }: WorkspaceFacts): readonly boolean[] => [
    id === lower,
    urlKey === word,
    name.toLowerCase() === lower,
  ];
  const [found, other] =
    [0, 1, 2].map((way) => all.filter((one) => isNamed(one)[way])).find((matches) => matches.length > 0) ?? [];
  if (found === undefined)
    throw new CliFault('not-found', `You are in no workspace ${word}.`, {
      hint: 'wts workspace list shows yours. One that was deleted more than a week ago is gone.',
    });
  if (other !== undefined)
    throw new CliFault('usage', `Several of your workspaces are named ${word}.`, { hint: 'Give its urlKey.' });
  const { id, urlKey, name, archivedAt } = found;
  const [userId = '', ...groups] = subscribedSyncGroups;
  const others = new Set(all.map((one) => one.id).filter((one) => one !== id));
  return { workspace: { id, urlKey, name, archivedAt }, userId, groups: groups.filter((group) => !others.has(group)) };
}

export interface ReadWorkspace extends FoundWorkspace {
  readonly position: string;
  readonly epoch: string;
}

export interface WorkspaceReader {
  /** All earlier records are invalid. */
  begin(): Promise<void>;
  /** A record of the workspace; parents are before their children. People are last. */
  take(record: ExportRecord): Promise<void>;
}

/**
 * Reads all records of a workspace that the caller sees, exactly as they are at one position. A private project that the caller is
 * added to while it is read would be missing, so then it is read again.
 */
export async function readWorkspace(
  sync: SyncClient,
  workspace: FoundWorkspace,
  reader: WorkspaceReader,
  options: ReadOptions,
): Promise<ReadWorkspace> {
  let found = workspace;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    await reader.begin();
    const isNarrow = found.groups.length <= GROUPS_MAX;
    const request = isNarrow ? { syncGroups: found.groups.join(',') } : {};
    const snapshot = await openSnapshot(sync, request, options);
    await takeAll(snapshot, found.workspace.id, reader);
    const after = await findWorkspace(sync, found.workspace.id, { ...options, firstSyncId: snapshot.lastSyncId });
    const before = new Set(found.groups);
    if (after.groups.every((group) => before.has(group)))
      return { ...found, position: snapshot.lastSyncId, epoch: snapshot.epoch };
    found = after;
  }
  throw new CliFault('refused', 'Your private projects change all the time, so the workspace could not be read.', {
    hint: 'Run the command again.',
  });
}

function openSnapshot(
  sync: SyncClient,
  request: BootstrapRequest,
  { signal, firstSyncId }: ReadOptions,
): Promise<Snapshot> {
  return sync.bootstrap({ ...request, ...given({ firstSyncId }) }, { signal });
}

async function takeAll({ records }: Snapshot, workspaceId: string, reader: WorkspaceReader): Promise<void> {
  /** Teams and projects of the workspace. */
  const parents = new Set<unknown>();
  const people = new Map<string, ExportRecord>();
  const referred = new Set<string>();
  const isOfWorkspace = (record: ExportRecord): boolean => {
    if (record.__class === 'Workspace') return record.id === workspaceId;
    if (record.__class === 'TeamMember') return parents.has(record['teamId']);
    if (record.__class === 'ProjectMember') return parents.has(record['projectId']);
    return record['workspaceId'] === workspaceId;
  };
  for await (const part of records) {
    for (const one of part) {
      const record = one as object as ExportRecord;
      if (record.__class === 'User') people.set(record.id, record);
      else if (isOfWorkspace(record)) {
        if (record.__class === 'Team' || record.__class === 'Project') parents.add(record.id);
        for (const id of peopleIn(record)) referred.add(id);
        await reader.take(record);
      }
    }
  }
  for (const [id, person] of people) if (referred.has(id)) await reader.take(person);
}
