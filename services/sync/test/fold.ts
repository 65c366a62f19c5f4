import assert from 'node:assert/strict';
import type { StoredEntry, ModelRecord } from '@wts/contracts';
import { MODELS, snakeCase, type Model } from '@wts/models';
import type { Pool } from 'pg';

/** The records that a reader of each group has, by `group model id`. */
type Copies = ReadonlyMap<string, { readonly [field: string]: unknown }>;

/**
 * Applies the log as clients do, group by group, from what they receive: INSERT has the record, UPDATE, ARCHIVE and UNARCHIVE
 * have the changed fields, DELETE removes the record. Faults are entries that a reader of the group could not apply.
 */
function foldLog(entries: readonly StoredEntry[]): { copies: Copies; faults: string[] } {
  const copies = new Map<string, { readonly [field: string]: unknown }>();
  const faults: string[] = [];
  for (const { syncId, groupId, modelName, modelId, action, data, record } of entries) {
    const key = `${groupId} ${modelName} ${modelId}`;
    const known = copies.get(key);
    if ((action === 'INSERT') !== (known === undefined)) faults.push(`${syncId}: ${action} ${key}`);
    if (action === 'DELETE') copies.delete(key);
    else copies.set(key, action === 'INSERT' ? data : { ...known, ...data });
    if (action !== 'DELETE' && JSON.stringify(copies.get(key)) !== JSON.stringify(record))
      faults.push(`${syncId}: the record of ${key} is not what a reader holds`);
  }
  return { copies, faults };
}

/**
 * Finds entries that show a record of a private project to its workspace: all but the DELETE that ends its visibility there.
 * Decided from the log up to each entry, whatever sweeps are still to come.
 */
export function shownOutside(entries: readonly StoredEntry[]): string[] {
  const records = new Map<string, ModelRecord>();
  const found: string[] = [];
  const at = (model: string, id: unknown): ModelRecord | undefined => records.get(`${model} ${String(id)}`);
  for (const { syncId, groupId, workspaceId, modelName, modelId, action, record } of entries) {
    if (action === 'DELETE') continue;
    records.set(`${modelName} ${modelId}`, record);
    if (groupId !== workspaceId || !['Task', 'TaskChecklistItem', 'Comment'].includes(modelName)) continue;
    const task = modelName === 'Task' ? record : at('Task', record['taskId']);
    if (at('Project', task?.['projectId'])?.['isPrivate'] === true)
      found.push(`${syncId}: ${action} ${modelName} ${modelId}`);
  }
  return found;
}

/** The same from the tables: every record, for each group that sees it. */
async function copiesOfTables(pool: Pool): Promise<Copies> {
  const copies = new Map<string, ModelRecord>();
  for (const model of MODELS) {
    const { rows } = await pool.query<{ groups: string[]; record: ModelRecord }>(
      `select array(${groupsSql(model)}) as groups, t.record from sync.${model.table} t`,
    );
    for (const { groups, record } of rows)
      for (const group of groups) copies.set(`${group} ${model.name} ${record.id}`, record);
  }
  const { rows: frozen } = await pool.query<{ group: string; record: ModelRecord }>(
    'select group_id as group, record from sync.frozen_people',
  );
  for (const { group, record } of frozen) copies.set(`${group} User ${record.id}`, record);
  return copies;
}

function groupsSql({ audience }: Model): string {
  if (audience.kind === 'person') return `select group_id::text from sync.user_audiences a where a.user_id = t.id`;
  if (audience.kind !== 'membership') return `select t.group_id::text`;
  const opens = `t.group_id = t.${snakeCase(audience.field)}`;
  return `select t.group_id::text union all select t.user_id::text where ${opens}`;
}

/** What readers of each group have by the log is what the tables have. */
export async function assertLogIsState(entries: readonly StoredEntry[], pool: Pool): Promise<void> {
  const { copies, faults } = foldLog(entries);
  assert.deepEqual([faults, differencesOf(copies, await copiesOfTables(pool))], [[], []]);
}

/** The keys at which the two differ. */
function differencesOf(folded: Copies, stored: Copies): string[] {
  const keys = new Set([...folded.keys(), ...stored.keys()]);
  return [...keys].filter((key) => JSON.stringify(folded.get(key)) !== JSON.stringify(stored.get(key)));
}
