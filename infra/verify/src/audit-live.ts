import { MODELS, type Model } from '@wts/models';
import type { ClientBase } from 'pg';
import { applyActions, compareDeliveries, type Replica } from './compare.ts';
import { FINDINGS_MAX, type Finding } from './finding.ts';
import { readPage, readSnapshot, type Listener, type Target } from './listeners.ts';

/**
 * What is for somebody in these groups after a place, up to another: of a group they gained, what follows the latest gain.
 * Their own group, in which gains stand, is one of them.
 */
export async function expectedIds(
  client: ClientBase,
  groups: readonly string[],
  after: bigint,
  upTo: bigint,
): Promise<string[]> {
  const { rows } = await client.query<{ sync_id: string }>(
    `with gain as materialized (
       select coalesce(record->>'projectId', record->>'workspaceId')::uuid as moved, max(sync_id) as at from sync.sync_actions
       where group_id = any($1::uuid[]) and sync_id <= $3 and action = 'INSERT'
         and model in ('WorkspaceMember', 'ProjectMember') and group_id = (record->>'userId')::uuid
       group by 1
     )
     select sync_id::text from sync.sync_actions a where group_id = any($1::uuid[]) and sync_id > $2 and sync_id <= $3
       and sync_id > coalesce((select at from gain where moved = a.group_id), 0) order by a.sync_id`,
    [groups, String(after), String(upTo)],
  );
  return rows.map(({ sync_id }) => sync_id);
}

/** Holds every listener against the log, up to a place all of them have reached. */
export async function auditListeners(
  client: ClientBase,
  listeners: readonly Listener[],
  groups: readonly string[],
  after: bigint,
  upTo: bigint,
): Promise<Finding[]> {
  const expected = await expectedIds(client, groups, after, upTo);
  return listeners.flatMap(({ name, received }) => {
    const ids = received.map(({ syncId }) => syncId).filter((id) => BigInt(id) <= upTo);
    return compareDeliveries(name, expected, ids);
  });
}

/** What a client holds, as of a place. */
export interface Copy {
  readonly records: Replica;
  readonly at: string;
  readonly groups: readonly string[];
}

/** As a new client does it: these models, or all, in a snapshot. */
export async function loadCopy(
  target: Target,
  onlyModels: readonly string[] = MODELS.map(({ name }) => name),
): Promise<Copy> {
  const { lastSyncId: at, groups, rows } = await readSnapshot(target, onlyModels);
  const records: Replica = new Map();
  for (const { __class: modelName, ...record } of rows) {
    records.set(`${modelName} ${record.id}`, { modelName, record });
  }
  return { records, at, groups };
}

/**
 * Follows the log on from a snapshot, loaded now or some time ago, and holds what comes of it against the tables: same
 * records, same values, and no others. A snapshot that is not of one moment, or not of the place it says, shows here, and so
 * does a log that does not say what became of the tables.
 */
export async function auditCopy(
  client: ClientBase,
  target: Target,
  copy: Copy,
  groups: readonly string[] = copy.groups,
): Promise<{ records: number; findings: Finding[] }> {
  const at = await follow(target, copy.records, copy.at);
  return { records: copy.records.size, findings: await compareModels(client, MODELS, groups, copy.records, at) };
}

/** The copy of somebody who comes now. */
export async function auditNewcomer(
  client: ClientBase,
  target: Target,
  groups: readonly string[],
  onlyModels: readonly string[] = MODELS.map(({ name }) => name),
): Promise<{ records: number; findings: Finding[] }> {
  const { records, at: from } = await loadCopy(target, onlyModels);
  const at = await follow(target, records, from);
  const models = MODELS.filter(({ name }) => onlyModels.includes(name));
  return { records: records.size, findings: await compareModels(client, models, groups, records, at) };
}

/** Applies all that comes after a place; the place it has come to. */
async function follow(target: Target, replica: Replica, from: string): Promise<string> {
  let after = from;
  for (let hasMore = true; hasMore;) {
    const page = await readPage(target, after);
    applyActions(replica, page.actions);
    after = page.lastSyncId;
    hasMore = page.hasMore;
  }
  return after;
}

async function compareModels(
  client: ClientBase,
  models: readonly Model[],
  groups: readonly string[],
  replica: Replica,
  at: string,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const model of models) findings.push(...(await compareModel(client, model, groups, replica, at)));
  return findings;
}

/** As they are, in a group they are in; otherwise as they were when they left one, the last time. */
const PEOPLE = `(select id, record from sync.users where id in (select user_id from sync.user_audiences where group_id = any($1::uuid[]))
  union all (select distinct on (user_id) user_id, record from sync.frozen_people where group_id = any($1::uuid[])
    and user_id not in (select user_id from sync.user_audiences where group_id = any($1::uuid[])) order by user_id, frozen_at desc))`;

async function compareModel(
  client: ClientBase,
  model: Model,
  groups: readonly string[],
  replica: Replica,
  at: string,
): Promise<Finding[]> {
  const visible =
    model.name === 'User' ? PEOPLE : `(select id, record from sync.${model.table} where group_id = any($1::uuid[]))`;
  // Rows changed after the client's place are left to the next round.
  const { rows } = await client.query<{ id: string; record: Record<string, unknown> }>(
    `select id::text, record from ${visible} t where not exists (select from sync.sync_actions a where a.model_id = t.id and a.sync_id > $2)`,
    [groups, at],
  );
  const findings: Finding[] = await surplus(client, model, visible, groups, replica, at);
  for (const { id, record } of rows) {
    const copy = replica.get(`${model.name} ${id}`)?.record;
    const differing = Object.keys(record).filter(
      (field) => JSON.stringify(copy?.[field]) !== JSON.stringify(record[field]),
    );
    if (differing.length === 0 || findings.length >= FINDINGS_MAX) continue;
    findings.push({
      promise: 'replica-is-state',
      seen: copy
        ? `${model.name} ${id}: a client has another ${differing.join(', ')}`
        : `${model.name} ${id}: a client does not have it`,
    });
  }
  return findings;
}

/** What a client has and should not: what is gone, or what was never for it. */
async function surplus(
  client: ClientBase,
  model: Model,
  visible: string,
  groups: readonly string[],
  replica: Replica,
  at: string,
): Promise<Finding[]> {
  const ids = [...replica.values()].flatMap(({ modelName, record }) =>
    modelName === model.name ? [record['id']] : [],
  );
  const { rows } = await client.query<{ id: string }>(
    `select copy.id::text from unnest($3::uuid[]) as copy(id)
     where not exists (select from ${visible} t where t.id = copy.id)
       and not exists (select from sync.sync_actions a where a.model_id = copy.id and a.sync_id > $2) limit ${FINDINGS_MAX}`,
    [groups, at, ids],
  );
  return rows.map(({ id }) => ({
    promise: 'replica-is-state',
    seen: `${model.name} ${id}: a client has it, and it is gone or not for it`,
  }));
}
