import { IMPORTED, ruleOf, SET_IN_EVERY_RECORD, type ExportRecord, type ImportedModel } from './model-rules.ts';

/** How the ids of an export become those of the target. */
export interface Mapping {
  readonly workspaceId: string;
  idOf(id: string): string;
  /** Null: no person. */
  personOf(id: string): string | null;
}

/** A record as an import creates it. */
export interface TargetRecord {
  readonly model: ImportedModel;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly isArchived: boolean;
  /** What it is compared by. */
  readonly key: string;
}

/** Null for a membership of no person. */
export function targetRecord(model: ImportedModel, record: ExportRecord, mapping: Mapping): TargetRecord | null {
  const { references, people, serverSets, key } = ruleOf(model);
  const skipped = new Set<string>(['id', '__class', ...SET_IN_EVERY_RECORD, ...serverSets]);
  const payload: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(record)) {
    if (skipped.has(name)) continue;
    if (name === 'workspaceId') payload[name] = mapping.workspaceId;
    else if (people.includes(name)) payload[name] = typeof value === 'string' ? mapping.personOf(value) : value;
    else if (Object.hasOwn(references, name)) payload[name] = mapped(value, mapping);
    else payload[name] = value;
  }
  if (key !== undefined && payload[key[1]] === null) return null;
  if (model === 'Task') payload['repeatRule'] = remainingRule(record);
  const id = mapping.idOf(record.id);
  const isArchived = (record.archivedAt ?? null) !== null;
  return { model, id, payload, isArchived, key: comparedBy(model, { id, ...payload }) };
}

function mapped(value: unknown, mapping: Mapping): unknown {
  if (Array.isArray(value)) return value.map((id) => mapping.idOf(String(id)));
  return typeof value === 'string' ? mapping.idOf(value) : value;
}

/** The server counts a series from its first task on, which is this one in the target. */
function remainingRule({ repeatRule, repeatIndex }: ExportRecord): unknown {
  if (typeof repeatRule !== 'string' || typeof repeatIndex !== 'number') return repeatRule ?? null;
  return repeatRule.replace(
    /COUNT=(\d+)/,
    (_, count: string) => `COUNT=${Math.max(1, Number(count) - repeatIndex + 1)}`,
  );
}

/** The text that names a record in the target: its id, or the two records that a membership joins. */
export function comparedBy(model: ImportedModel, record: Readonly<Record<string, unknown>>): string {
  const { key = ['id'] } = ruleOf(model);
  return `${model} ${key.map((name) => String(record[name])).join(' ')}`;
}

/** The fields that the stored record has differently. */
export function differencesOf(expected: TargetRecord, stored: ExportRecord): readonly string[] {
  const { payload, isArchived } = expected;
  const wasMovedOn = hasGoneOn(expected, stored);
  const differing = Object.keys(payload).filter((name) => {
    if (wasMovedOn && name.startsWith('repeat')) return false;
    return JSON.stringify(payload[name]) !== JSON.stringify(stored[name]);
  });
  return ((stored.archivedAt ?? null) !== null) === isArchived ? differing : [...differing, 'archivedAt'];
}

/** The next task of its series is created, so the rule is there. A task that never had a rule is in no series. */
function hasGoneOn({ model, payload }: TargetRecord, stored: ExportRecord): boolean {
  if (model !== 'Task' || payload['repeatRule'] === null) return false;
  return stored['repeatRule'] === null && stored['repeatTemplateId'] !== null;
}

/** What the server sets in the target, for the report. */
export const SET_BY_SERVER: Readonly<Record<string, readonly string[]>> = {
  'every record': SET_IN_EVERY_RECORD,
  ...Object.fromEntries(
    Object.entries(IMPORTED)
      .filter(([, { serverSets }]) => serverSets.length > 0)
      .map(([model, { serverSets }]) => [model, serverSets]),
  ),
};
