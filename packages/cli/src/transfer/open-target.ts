import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SyncError, type Change, type SyncClient } from '@wts/client';
import type { ApiClient } from '@wts/client/api';
import { CheckpointFile, type Checkpoint, type CheckpointFacts } from './checkpoint.ts';
import { CliFault } from '../fault.ts';
import { mapPeople, type MappedPerson, type PeopleMap, type TargetMember } from './map-people.ts';
import type { Manifest } from './manifest.ts';
import type { Progress } from '../output/progress.ts';
import { findWorkspace, type FoundWorkspace } from './read-workspace.ts';
import { sendChanges } from './send-changes.ts';
import { uuidV5 } from './uuid-v5.ts';

export interface ImportOptions {
  /** A client whose changes have this `clientId`. */
  readonly connect: (clientId: string) => SyncClient;
  readonly api: ApiClient;
  readonly importer: () => Promise<TargetMember>;
  readonly folder: string;
  readonly target: { readonly into: string } | { readonly name: string; readonly urlKey: string };
  readonly people: PeopleMap;
  /** Records keep their ids, for another installation. */
  readonly keepsIds: boolean;
  /** The folder of an earlier export that was imported before: only what changed since is. Null: everything. */
  readonly since: string | null;
  /** Also the time zone and the like of the exported workspace; a new one always has them. */
  readonly takesSettings: boolean;
  /** Tasks keep their numbers, in a workspace that never had a task; those of a new one always do. */
  readonly keepsNumbers: boolean;
  /** Nothing is changed. */
  readonly isDryRun: boolean;
  /** Null: beside the files of the export. */
  readonly checkpoint: string | null;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface OpenTarget {
  /** Null: a dry run of an import into a new workspace. */
  readonly target: FoundWorkspace | null;
  readonly people: readonly MappedPerson[];
  readonly checkpoint: CheckpointFile;
  readonly at: CheckpointFacts;
}

export const START = { file: 0, offset: 0, records: 0, number: 0, refusedBytes: 0, position: '0' } as const;

/** Finds or creates the target, and the place at which an earlier run of the same import stopped. */
export async function openTarget(options: ImportOptions, manifest: Manifest, exportHash: string): Promise<OpenTarget> {
  const { api, folder, target: wanted, people: map, keepsIds } = options;
  const sync = options.connect(randomUUID());
  const into = 'into' in wanted ? await findWorkspace(sync, wanted.into, options) : null;
  const urlKey = 'urlKey' in wanted ? wanted.urlKey : (into?.workspace.urlKey ?? '');
  const checkpoint = new CheckpointFile(options.checkpoint ?? join(folder, `import-${urlKey}.json`));
  const before = await checkpoint.read(exportHash);
  const fresh = { ...START, export: exportHash, keepsIds, stage: 'insert', notes: [] } as const;

  const target =
    into ??
    (before && (await existing(sync, before.workspaceId, options))) ??
    (await create(options, manifest, exportHash));
  if (target === null) {
    const importer = await options.importer();
    const people = mapPeople({ people: manifest.people, members: [importer], importerId: importer.userId, map });
    return { target, people, checkpoint, at: { ...fresh, workspaceId: '' } };
  }
  const { workspace, userId } = target;
  const { members } = await api.listMembers({ workspaceId: workspace.id });
  checkRight(target, members.find((member) => member.userId === userId)?.role);
  const people = mapPeople({ people: manifest.people, members, importerId: userId, map });
  const begun = before?.workspaceId === workspace.id ? continued(before, options, checkpoint) : null;
  if (begun) return { target, people, checkpoint, at: begun };
  const takesSettings = !options.isDryRun && (into === null || options.takesSettings);
  const notes = takesSettings ? await takeSettings(options, workspace.id, exportHash) : [];
  const at = { ...fresh, workspaceId: workspace.id, notes };
  if (into === null) await checkpoint.write(at);
  return { target, people, checkpoint, at };
}

/** An import that was done begins again, because something of it may have been refused. */
function continued(before: Checkpoint, { keepsIds }: ImportOptions, { path }: CheckpointFile): CheckpointFacts {
  if (before.keepsIds !== keepsIds)
    throw new CliFault('usage', `This import was begun ${before.keepsIds ? 'with' : 'without'} --keep-ids.`, {
      hint: `Repeat it like that, or remove ${path}.`,
    });
  return before.stage === 'done' ? { ...before, ...START, stage: 'insert' } : before;
}

/** The workspace that an earlier run created; null on another server. */
async function existing(sync: SyncClient, workspaceId: string, options: ImportOptions): Promise<FoundWorkspace | null> {
  try {
    return await findWorkspace(sync, workspaceId, options);
  } catch (error) {
    if (error instanceof CliFault && error.exit === 'not-found') return null;
    throw error;
  }
}

/** Creates the workspace once, also when this is repeated before the checkpoint is written. Null in a dry run. */
async function create(options: ImportOptions, manifest: Manifest, exportHash: string): Promise<FoundWorkspace | null> {
  const { target, api, isDryRun } = options;
  if ('into' in target || isDryRun) return null;
  const { name, urlKey } = target;
  const idempotencyKey = uuidV5(manifest.workspace.id, `${exportHash} ${urlKey}`);
  try {
    const { workspace } = await api.createWorkspace({ name, urlKey }, { idempotencyKey });
    return await findWorkspace(options.connect(randomUUID()), workspace.id, options);
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'slug_taken') throw error;
    throw new CliFault('refused', `There is a workspace ${urlKey} already.`, {
      hint: 'Choose another --key, or import with --into.',
      cause: error,
    });
  }
}

/** The settings of the exported workspace; returns what the server did not accept. */
async function takeSettings(
  options: ImportOptions,
  workspaceId: string,
  exportHash: string,
): Promise<readonly string[]> {
  const text = await readFile(join(options.folder, 'Workspace.ndjson'), 'utf8').catch(() => '{}');
  const settings = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const names = ['logoUrl', 'timeZone', 'trashRetentionDays'].filter((name) => (settings[name] ?? null) !== null);
  const changes = names.map(
    (name) =>
      ({
        modelName: 'Workspace',
        modelId: workspaceId,
        action: 'UPDATE',
        payload: { [name]: settings[name] },
        clientTxId: `${workspaceId}:${name}`,
      }) as object as Change,
  );
  if (changes.length === 0) return [];
  const { results } = await sendChanges(changes, {
    ...options,
    sync: options.connect(uuidV5(workspaceId, exportHash)),
  });
  return results.flatMap((result, at) => (result.success ? [] : [`${names[at]} of the workspace: ${result.error}`]));
}

function checkRight({ workspace }: FoundWorkspace, role: string | undefined): void {
  if (workspace.archivedAt !== null)
    throw new CliFault('refused', `The workspace ${workspace.urlKey} is deleted, so nothing can be imported into it.`, {
      hint: 'An owner can restore it: wts workspace restore.',
    });
  if (role === undefined || role === 'guest')
    throw new CliFault('refused', `As a guest of ${workspace.urlKey} you cannot import into it.`, {
      hint: 'Ask an owner or admin for another role.',
    });
}
