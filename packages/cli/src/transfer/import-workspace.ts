import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { comparisonWithNothing, TargetComparison, type Comparison, type Refusal } from './compare-target.ts';
import { CliFault } from '../fault.ts';
import { filesInOrder, RecordImport } from './import-records.ts';
import { LineWriter, readLines } from './line-files.ts';
import type { MappedPerson } from './map-people.ts';
import { readManifest, type Manifest } from './manifest.ts';
import { isImported, type ExportRecord } from './model-rules.ts';
import { openTarget, START, type ImportOptions } from './open-target.ts';
import type { WorkspaceFacts } from './read-workspace.ts';
import { targetRecord, type Mapping } from './target-record.ts';
import { planChanges, type ExportFiles, type Planned } from './plan-changes.ts';
import { uuidV5 } from './uuid-v5.ts';
import { checkFiles } from './verify-export.ts';

/*
 * An import creates the records of an export in a workspace, in the order of its files, by the changes that any client makes. The id of
 * each record follows from the target and the id that it had, and so does the id of each change: what is sent twice, after a crash or by a
 * repeated command, is made once. A checkpoint makes a repeated command quick. At the end the stored records are read and compared.
 */

export interface ImportReport {
  /** Null: a dry run without a target. */
  readonly target: WorkspaceFacts | null;
  readonly people: readonly MappedPerson[];
  /** What the server did not accept of the workspace itself. */
  readonly notes: readonly string[];
  /** What is not in the export at all. */
  readonly notIncluded: readonly string[];
  /** What changed since the earlier export; null without one. */
  readonly planned: Planned | null;
  readonly comparison: Comparison;
  /** The file with one refusal a line; null without any. */
  readonly refusedPath: string | null;
}

export async function importWorkspace(options: ImportOptions): Promise<ImportReport> {
  const { progress, signal, folder, isDryRun } = options;
  const { manifest, text } = await readManifest(folder);
  checkModels(manifest);
  progress.stage('verify');
  await checkFiles(folder, manifest, signal);
  const earlier = options.since === null ? null : await readEarlier(options.since, manifest, signal);
  const { target, checkpoint, people, at } = await openTarget(options, manifest, hashOf(text + (earlier?.text ?? '')));
  const facts = { people, notes: at.notes, notIncluded: manifest.notIncluded, planned: null };
  const files = filesInOrder(manifest.files);
  if (target === null) {
    const missing = Object.fromEntries(files.map(({ model, records }) => [model, records]));
    return { ...facts, target, comparison: comparisonWithNothing(missing), refusedPath: null };
  }

  const { workspace } = target;
  const sync = options.connect(uuidV5(workspace.id, at.export));
  const sending = { sync, progress, signal };
  const mapping = mappingOf(workspace.id, people, options.keepsIds);
  const keepsNumbers = options.keepsNumbers || !('into' in options.target);
  const records = { ...sending, folder, files, mapping, keepsNumbers };
  const planned =
    earlier === null
      ? null
      : await planChanges({ ...earlier, after: { folder, files }, mapping, path: checkpoint.planPath });
  let firstSyncId = at.position;
  if (!isDryRun && at.stage !== 'check') {
    const importing = new RecordImport({ ...records, checkpoint }, at);
    const run = planned === null ? importing.run() : importing.runPlan(checkpoint.planPath, sumOf(planned));
    firstSyncId = (await run).position;
  }
  await using comparison = new TargetComparison();
  for (const file of files) await expectFile(comparison, join(folder, file.name), mapping);
  const refusals = new StandingRefusals(checkpoint.refusedPath);
  if (!isDryRun) await refusals.addTo(comparison);
  const compared = await comparison.compare({
    ...sending,
    target: workspace.id,
    firstSyncId,
    onRefusal: (refusal) => refusals.keep(refusal),
  });
  if (!isDryRun) {
    await refusals.replace();
    await checkpoint.write({ ...at, ...START, stage: 'done' });
  }
  const refusedPath = compared.refusedTotal > 0 ? checkpoint.refusedPath : null;
  if (planned) await rm(checkpoint.planPath, { force: true });
  return { ...facts, planned, target: workspace, comparison: compared, refusedPath };
}

interface EarlierExport {
  readonly text: string;
  readonly before: ExportFiles;
}

/** The export that was imported before. */
async function readEarlier(folder: string, manifest: Manifest, signal: AbortSignal): Promise<EarlierExport> {
  const { manifest: earlier, text } = await readManifest(folder);
  if (earlier.workspace.id !== manifest.workspace.id)
    throw new CliFault('usage', `${folder} holds an export of another workspace: ${earlier.workspace.urlKey}.`);
  await checkFiles(folder, earlier, signal);
  return { text, before: { folder, files: filesInOrder(earlier.files) } };
}

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Records of models that only a newer version of wts knows would be lost. */
function checkModels({ files }: Manifest): void {
  const unknown = files.find(({ model }) => !isImported(model) && !NOT_IMPORTED.has(model));
  if (unknown)
    throw new CliFault(
      'failed',
      `The export has records of ${unknown.model}, which this version of wts does not know.`,
      {
        hint: 'Use a newer version of wts.',
      },
    );
}

/** The workspace is the target itself; people join by themselves. */
const NOT_IMPORTED: ReadonlySet<string> = new Set(['Workspace', 'User', 'WorkspaceMember']);

function mappingOf(workspaceId: string, people: readonly MappedPerson[], keepsIds: boolean): Mapping {
  const to = new Map(people.map((one) => [one.person.id, one.to?.userId ?? null]));
  return { workspaceId, idOf: (id) => (keepsIds ? id : uuidV5(workspaceId, id)), personOf: (id) => to.get(id) ?? null };
}

async function expectFile(comparison: TargetComparison, path: string, mapping: Mapping): Promise<void> {
  for await (const lines of readLines(path)) {
    for (const { text } of lines) {
      const source = JSON.parse(text) as ExportRecord;
      const record = isImported(source.__class) ? targetRecord(source.__class, source, mapping) : null;
      if (record) await comparison.expect(record, source['number']);
    }
  }
}

/** The refusals of an import without those of records that are in the target all the same. */
class StandingRefusals {
  readonly #path: string;
  #writer: LineWriter | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async addTo(comparison: TargetComparison): Promise<void> {
    for await (const lines of readLines(this.#path))
      for (const { text } of lines) await comparison.refuse(JSON.parse(text) as Refusal);
  }

  async keep(refusal: Refusal): Promise<void> {
    this.#writer ??= await LineWriter.open(`${this.#path}.new`);
    await this.#writer.write(JSON.stringify(refusal));
  }

  async replace(): Promise<void> {
    if (this.#writer) {
      await this.#writer.close({ isKept: true });
      await rename(`${this.#path}.new`, this.#path);
    } else await rm(this.#path, { force: true });
  }
}
