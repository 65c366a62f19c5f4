import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SyncError, type SyncClient } from '@wts/client';
import type { ApiClient } from '@wts/client/api';
import { CliFault } from '../fault.ts';
import { makeFolder } from '../make-folder.ts';
import { given } from '../options.ts';
import { LineWriter, onDisk } from './line-files.ts';
import { LineSorter } from './line-sorter.ts';
import { holdsUnfinished, MANIFEST, manifestText, namesIn, PARTIAL, readManifest } from './manifest.ts';
import type { ExportedFile, ExportedPerson, Manifest, ManifestFacts } from './manifest.ts';
import { IMPORTED_MODELS, orderOf, type ExportRecord } from './model-rules.ts';
import { parentsFirst } from './parents-first.ts';
import type { Progress } from '../output/progress.ts';
import { findWorkspace, readWorkspace, type FoundWorkspace, type ReadWorkspace } from './read-workspace.ts';

/*
 * An export is one snapshot of the server: all records exactly as they are at one position of the log, whatever changes meanwhile. The
 * records are sorted, so that two exports of the same state have the same files. They are written beside the export of before, if there
 * is one, and replace it by renaming; the manifest is removed before and written last. So a folder with a manifest is complete.
 */

export interface ExportOptions {
  readonly sync: SyncClient;
  readonly api: ApiClient;
  /** Where the records are from, for the manifest. */
  readonly server: string;
  /** The id, urlKey or name of a workspace. */
  readonly workspace: string;
  readonly folder: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** The connection is lost while the snapshot is read: then it is read again from its beginning. */
const READS_MAX = 5;
/** Files of these models are first; those of models that this version does not know are last. */
const FIRST = ['Workspace', 'User', 'WorkspaceMember', ...IMPORTED_MODELS];

export async function exportWorkspace(options: ExportOptions): Promise<Manifest> {
  const { folder } = options;
  const workspace = await findWorkspace(options.sync, options.workspace, options);
  await checkFolder(folder, workspace.workspace.id);
  await using parts = new UnfinishedExport(join(folder, PARTIAL));
  options.progress.stage('read');
  const found = await readAll(options, workspace, parts);
  options.progress.stage('write', parts.records);
  const files = await parts.write((records) => {
    options.signal.throwIfAborted();
    options.progress.advance(records);
  });
  const facts: ManifestFacts = {
    exportedAt: new Date().toISOString(),
    exportedBy: found.userId,
    server: options.server,
    workspace: found.workspace,
    position: found.position,
    epoch: found.epoch,
    files,
    people: parts.people,
    notIncluded: await notIncluded(options.api, found, parts.projects),
  };
  options.signal.throwIfAborted();
  await replace(folder, files, manifestText(facts));
  return (await readManifest(folder)).manifest;
}

async function readAll(
  { sync, progress, signal }: ExportOptions,
  workspace: FoundWorkspace,
  parts: UnfinishedExport,
): Promise<ReadWorkspace> {
  const take = async (record: ExportRecord): Promise<void> => {
    progress.advance(1);
    await parts.take(record);
  };
  for (let reads = 1; ; reads += 1) {
    try {
      return await readWorkspace(sync, workspace, { begin: () => parts.begin(), take }, { signal });
    } catch (error) {
      if (signal.aborted || !(error instanceof SyncError) || !error.isTemporary || reads === READS_MAX) throw error;
      progress.note(`${error.message}; reading again`);
      progress.stage('read');
    }
  }
}

/** The records of an export before they are in its files. */
class UnfinishedExport implements AsyncDisposable {
  readonly #folder: string;
  #sorters = new Map<string, LineSorter>();
  #people: ExportRecord[] = [];
  #roles = new Map<unknown, string>();
  records = 0;
  projects = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async begin(): Promise<void> {
    await onDisk(this.#folder, () => rm(this.#folder, { recursive: true, force: true }));
    await onDisk(this.#folder, () => makeFolder(this.#folder));
    this.#sorters = new Map();
    this.#people = [];
    this.#roles = new Map();
    this.projects = new Set();
    this.records = 0;
  }

  async take(record: ExportRecord): Promise<void> {
    const { __class: model } = record;
    if (model === 'User') this.#people.push(record);
    if (model === 'WorkspaceMember') this.#roles.set(record['userId'], String(record['role']));
    if (model === 'Project') this.projects.add(record.id);
    let sorter = this.#sorters.get(model);
    if (!sorter) this.#sorters.set(model, (sorter = new LineSorter(join(this.#folder, `sort-${model}`))));
    await sorter.add(orderOf(record), JSON.stringify(record));
    this.records += 1;
  }

  get people(): readonly ExportedPerson[] {
    return this.#people
      .map(({ id, ...person }) => ({
        id,
        name: String(person['name']),
        email: typeof person['email'] === 'string' ? person['email'] : null,
        role: this.#roles.get(id) ?? null,
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async write(advance: (records: number) => void): Promise<readonly ExportedFile[]> {
    const place = (model: string): number => (FIRST.indexOf(model) + FIRST.length + 1) % (FIRST.length + 1);
    const models = [...this.#sorters.keys()].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
    const files: ExportedFile[] = [];
    for (const model of models) {
      await using sorter = this.#sorters.get(model) as LineSorter;
      const lines = model === 'Comment' ? parentsFirst(sorter.sorted()) : sorter.sorted();
      const name = `${model}.ndjson`;
      await using writer = await LineWriter.open(join(this.#folder, name));
      let archived = 0;
      for await (const { text } of lines) {
        if (text.includes('"archivedAt":"')) archived += 1;
        await writer.write(text);
        advance(1);
      }
      files.push({ name, model, archived, ...(await writer.close({ isKept: true })) });
    }
    return files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const sorter of this.#sorters.values()) await sorter[Symbol.asyncDispose]();
  }
}

/** Only an export of the same workspace is replaced, also an unfinished one. */
async function checkFolder(folder: string, workspaceId: string): Promise<void> {
  const names = await namesIn(folder);
  if (names === null || names.length === 0) return;
  if (names.includes(MANIFEST)) {
    const { manifest } = await readManifest(folder);
    if (manifest.workspace.id === workspaceId) return;
    throw new CliFault('usage', `${folder} holds an export of the workspace ${manifest.workspace.urlKey}.`, {
      hint: 'Export into another folder.',
    });
  }
  // A folder under version control is one for exports.
  if (!holdsUnfinished(names) && names.some((name) => !name.startsWith('.')))
    throw new CliFault('usage', `${folder} is not empty and holds no export.`, {
      hint: 'Export into another folder.',
    });
}

/** Until the manifest is there, the folder has an unfinished export: the unfinished folder is removed last. */
async function replace(folder: string, files: readonly ExportedFile[], manifest: string): Promise<void> {
  const partial = join(folder, PARTIAL);
  await onDisk(folder, async () => {
    await writeFile(join(partial, MANIFEST), manifest, { flush: true });
    const before = await namesIn(folder);
    await rm(join(folder, MANIFEST), { force: true });
    await syncFolder(folder);
    const names = new Set(files.map(({ name }) => name));
    for (const name of before ?? [])
      if (/^[A-Z]\w*\.ndjson$/.test(name) && !names.has(name)) await rm(join(folder, name));
    for (const name of names) await rename(join(partial, name), join(folder, name));
    await syncFolder(folder);
    await rename(join(partial, MANIFEST), join(folder, MANIFEST));
    await syncFolder(folder);
    await rm(partial, { recursive: true, force: true });
  });
}

/** Renames are on the disk in this order, also when the machine stops. Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using handle = await open(folder);
  await handle.sync();
}

/** Owners and admins see the names of private projects that they are not in; others only that there may be some. */
async function notIncluded(
  api: ApiClient,
  { workspace }: ReadWorkspace,
  projects: ReadonlySet<string>,
): Promise<readonly string[]> {
  const missing: string[] = [];
  try {
    for (let after: string | undefined, hasMore = true; hasMore;) {
      const page = await api.listPrivateProjects({ workspaceId: workspace.id, ...given({ after }) });
      for (const { id, key, name } of page.projects)
        if (!projects.has(id)) missing.push(`Private project ${key} (${name}), which you are not in`);
      after = page.projects.at(-1)?.id;
      hasMore = page.hasMore && after !== undefined;
    }
    return missing;
  } catch (error) {
    if (!(error instanceof SyncError) || ![403, 404].includes(error.status ?? 0)) throw error;
    return ['Private projects that you are not in, if there are any'];
  }
}
