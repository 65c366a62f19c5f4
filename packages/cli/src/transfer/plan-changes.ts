import { join } from 'node:path';
import { changeOf, type Sent } from './change-of.ts';
import { LineWriter, readLines } from './line-files.ts';
import { LineSorter, type SortedLine } from './line-sorter.ts';
import type { ExportedFile } from './manifest.ts';
import { IMPORTED_MODELS, isImported, type ExportRecord } from './model-rules.ts';
import { targetRecord, type Mapping, type TargetRecord } from './target-record.ts';

/*
 * What changed between two exports of a workspace, as changes of the target: what was changed in the target itself stays. Both are sorted
 * by what names a record and read side by side; the changes are sorted by when they are possible: a restored record can be changed, a
 * parent is there before its children, and nothing is created below an archived record.
 */

export interface ExportFiles {
  readonly folder: string;
  readonly files: readonly ExportedFile[];
}

export interface PlanOptions {
  readonly before: ExportFiles;
  readonly after: ExportFiles;
  readonly mapping: Mapping;
  /** Where the changes go, one a line. */
  readonly path: string;
}

type Action = Sent['change']['action'];

/** How many changes of each kind. */
export type Planned = Readonly<Partial<Record<Action, number>>>;

const STEPS: Readonly<Record<Action, number>> = { UNARCHIVE: 0, INSERT: 1, UPDATE: 1, ARCHIVE: 2, DELETE: 3 };
const [BEFORE, AFTER] = ['0', '1'];

/** The same two exports always give the same file. */
export async function planChanges({ before, after, mapping, path }: PlanOptions): Promise<Planned> {
  await using versions = LineSorter.temporary();
  for (const [side, from] of [
    [BEFORE, before],
    [AFTER, after],
  ] as const)
    for await (const version of versionsIn(from, mapping))
      await versions.add(`${version.record.key}\v${side}`, JSON.stringify(version));
  await using changes = LineSorter.temporary();
  const planned: Partial<Record<Action, number>> = {};
  for await (const pair of pairsOf(versions.sorted())) {
    for (const { sent, line } of changesOf(pair)) {
      const { action } = sent.change;
      planned[action] = (planned[action] ?? 0) + 1;
      await changes.add(placeOf(sent, line), JSON.stringify(sent));
    }
  }
  await using writer = await LineWriter.open(path);
  for await (const { text } of changes.sorted()) await writer.write(text);
  await writer.close({ isKept: false });
  return planned;
}

/** A record as one export has it. */
interface Version {
  readonly record: TargetRecord;
  readonly exportId: string;
  readonly line: number;
}

async function* versionsIn({ folder, files }: ExportFiles, mapping: Mapping): AsyncGenerator<Version> {
  for (const { name } of files) {
    let line = 0;
    for await (const lines of readLines(join(folder, name))) {
      for (const { text } of lines) {
        line += 1;
        const source = JSON.parse(text) as ExportRecord;
        const record = isImported(source.__class) ? targetRecord(source.__class, source, mapping) : null;
        if (record) yield { record, exportId: source.id, line };
      }
    }
  }
}

interface Pair {
  readonly before: Version | null;
  readonly after: Version | null;
}

/** Memberships of two people who are one in the target are one. */
async function* pairsOf(lines: AsyncIterable<SortedLine>): AsyncGenerator<Pair> {
  let [last, before, after]: [string | null, Version | null, Version | null] = [null, null, null];
  for await (const { key, text } of lines) {
    const [name = '', side] = key.split('\v');
    if (name !== last) {
      yield { before, after };
      [last, before, after] = [name, null, null];
    }
    if (side === BEFORE) before ??= JSON.parse(text) as Version;
    else after ??= JSON.parse(text) as Version;
  }
  yield { before, after };
}

interface PlannedChange {
  readonly sent: Sent;
  readonly line: number;
}

function changesOf({ before, after }: Pair): readonly PlannedChange[] {
  const last = after ?? before;
  if (last === null) return [];
  const plan = (action: Action, payload?: TargetRecord['payload']): PlannedChange => {
    const { record, exportId, line } = last;
    return { sent: { change: changeOf(record, action, payload), record, exportId }, line };
  };
  if (after === null) return [plan('DELETE')];
  const archives = after.record.isArchived ? [plan('ARCHIVE')] : [];
  if (before === null) return [plan('INSERT', after.record.payload), ...archives];
  const changed = Object.entries(after.record.payload).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before.record.payload[name]),
  );
  const isUpdated = changed.length > 0;
  const isToggled = before.record.isArchived !== after.record.isArchived;
  return [
    ...(before.record.isArchived && (isUpdated || isToggled) ? [plan('UNARCHIVE')] : []),
    ...(isUpdated ? [plan('UPDATE', Object.fromEntries(changed))] : []),
    ...(isUpdated || isToggled ? archives : []),
  ];
}

/** What is archived or deleted is so after what is below it. */
function placeOf({ change, record }: Sent, line: number): string {
  const step = STEPS[change.action];
  const place = IMPORTED_MODELS.indexOf(record.model);
  const model = step < 2 ? place : IMPORTED_MODELS.length - place;
  return `${step} ${String(model).padStart(2, '0')} ${String(line).padStart(10, '0')}`;
}
