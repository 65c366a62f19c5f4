import { MODEL_NAMES, MODELS, type Model } from '@wts/models';
import type { ClientBase } from 'pg';
import { applyActions, compareDeliveries, type ClientRecords } from './compare.ts';
import { FINDINGS_MAX, type AuditFinding } from './finding.ts';
import { readPage, readSnapshot, type Account, type Follower } from './followers.ts';

/** A part of the log that a reader of these groups must receive: after one position, up to another. */
export interface LogRange {
  readonly groups: readonly string[];
  readonly after: bigint;
  readonly upTo: bigint;
}

/**
 * The entries that a person with these groups must receive. Of a group that the person gained, only the entries after the
 * latest gain. `groups` includes the person's own group, because gains are entries of that group.
 */
export async function expectedIds(client: ClientBase, { groups, after, upTo }: LogRange): Promise<string[]> {
  const { rows } = await client.query<{ sync_id: string }>(
    `with gain as materialized (
       select coalesce(record->>'projectId', record->>'workspaceId')::uuid as gained, max(sync_id) as position from sync.sync_actions
       where group_id = any($1::uuid[]) and sync_id <= $3 and action = 'INSERT'
         and model in ('WorkspaceMember', 'ProjectMember') and group_id = (record->>'userId')::uuid
       group by 1
     )
     select sync_id::text from sync.sync_actions a where group_id = any($1::uuid[]) and sync_id > $2 and sync_id <= $3
       and sync_id > coalesce((select position from gain where gained = a.group_id), 0) order by a.sync_id`,
    [groups, String(after), String(upTo)],
  );
  return rows.map(({ sync_id }) => sync_id);
}

/** Compares each follower with the log, up to a position that all of them have reached. */
export async function auditFollowers(
  client: ClientBase,
  followers: readonly Follower[],
  range: LogRange,
): Promise<AuditFinding[]> {
  const expected = await expectedIds(client, range);
  return followers.flatMap(({ name, received }) => {
    const ids = received.map(({ syncId }) => syncId).filter((id) => BigInt(id) <= range.upTo);
    return compareDeliveries(name, expected, ids);
  });
}

/** The records that a client stores, as of a position. */
export interface ClientCopy {
  /** The names of the models that it has. */
  readonly models: readonly string[];
  readonly records: ClientRecords;
  readonly position: string;
  readonly groups: readonly string[];
}

/** Loads a snapshot of these models as a new client does. */
export async function loadCopy(account: Account, models: readonly string[] = MODEL_NAMES): Promise<ClientCopy> {
  const { lastSyncId: position, groups, rows } = await readSnapshot(account, models);
  const records: ClientRecords = new Map();
  for (const { __class: modelName, ...record } of rows) records.set(`${modelName} ${record.id}`, { modelName, record });
  return { models, records, position, groups };
}

/**
 * Applies the log to a copy and compares the result with the tables: same records, same values, no others. This finds a
 * snapshot that mixes two moments or has a wrong position, and a log that lacks a change of the tables.
 */
export async function auditCopy(
  client: ClientBase,
  account: Account,
  copy: ClientCopy,
  groups: readonly string[] = copy.groups,
): Promise<{ records: number; findings: AuditFinding[] }> {
  const position = await follow(account, copy.records, copy.position);
  const findings: AuditFinding[] = [];
  for (const model of MODELS.filter(({ name }) => copy.models.includes(name)))
    findings.push(...(await compareModel(client, model, { ...copy, position, groups })));
  return { records: copy.records.size, findings };
}

/** Loads a new copy and audits it. */
export async function auditNewCopy(
  client: ClientBase,
  account: Account,
  groups: readonly string[],
  models?: readonly string[],
): ReturnType<typeof auditCopy> {
  return auditCopy(client, account, await loadCopy(account, models), groups);
}

/** Applies all entries after a position. Resolves to the position of the last page. */
async function follow(account: Account, records: ClientRecords, from: string): Promise<string> {
  let after = from;
  for (let hasMore = true; hasMore;) {
    const page = await readPage(account, after);
    applyActions(records, page.actions);
    after = page.lastSyncId;
    hasMore = page.hasMore;
  }
  return after;
}

/** The current record of a person who is in one of the groups; otherwise the record when the person last left one. */
const PEOPLE = `(select id, record from sync.users where id in (select user_id from sync.user_audiences where group_id = any($1::uuid[]))
  union all (select distinct on (user_id) user_id, record from sync.frozen_people where group_id = any($1::uuid[])
    and user_id not in (select user_id from sync.user_audiences where group_id = any($1::uuid[])) order by user_id, frozen_at desc))`;

const visibleRecords = (model: Model): string =>
  model.name === 'User' ? PEOPLE : `(select id, record from sync.${model.table} where group_id = any($1::uuid[]))`;

async function compareModel(client: ClientBase, model: Model, copy: ClientCopy): Promise<AuditFinding[]> {
  // The next audit compares rows that changed after the client's position.
  const { rows } = await client.query<{ id: string; record: Record<string, unknown> }>(
    `select id::text, record from ${visibleRecords(model)} t where not exists (select from sync.sync_actions a where a.model_id = t.id and a.sync_id > $2)`,
    [copy.groups, copy.position],
  );
  const findings: AuditFinding[] = await surplusRecords(client, model, copy);
  for (const { id, record } of rows) {
    const own = copy.records.get(`${model.name} ${id}`)?.record;
    const differing = Object.keys(record).filter(
      (field) => JSON.stringify(own?.[field]) !== JSON.stringify(record[field]),
    );
    if (differing.length === 0 || findings.length >= FINDINGS_MAX) continue;
    findings.push({
      guarantee: 'copy-is-state',
      seen: own
        ? `${model.name} ${id}: a client has another ${differing.join(', ')}`
        : `${model.name} ${id}: a client does not have it`,
    });
  }
  return findings;
}

/** Records that a client has although they are deleted or in none of its groups. */
async function surplusRecords(
  client: ClientBase,
  model: Model,
  { records, position, groups }: ClientCopy,
): Promise<AuditFinding[]> {
  const ids = [...records.values()].flatMap(({ modelName, record }) =>
    modelName === model.name ? [record['id']] : [],
  );
  const { rows } = await client.query<{ id: string }>(
    `select copy.id::text from unnest($3::uuid[]) as copy(id)
     where not exists (select from ${visibleRecords(model)} t where t.id = copy.id)
       and not exists (select from sync.sync_actions a where a.model_id = copy.id and a.sync_id > $2) limit ${FINDINGS_MAX}`,
    [groups, position, ids],
  );
  return rows.map(({ id }) => ({
    guarantee: 'copy-is-state',
    seen: `${model.name} ${id}: a client has it, although it is deleted or not visible to that client`,
  }));
}
