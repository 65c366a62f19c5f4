import { columnsOf, MODELS, modelNamed, snakeCase, type Model } from '@wts/models';
import type { ClientBase } from 'pg';
import { auditSeries } from './audit-series.ts';
import { FINDINGS_MAX, type AuditFinding } from './finding.ts';

export interface LogAudit {
  readonly head: bigint;
  readonly floor: bigint;
  readonly entries: number;
  /** Series by date that go on. */
  readonly series: number;
  readonly findings: readonly AuditFinding[];
}

/** SQL of the first position: entries below it were trimmed, or lie before the gap of the last epoch. */
const BEGINNING = 'greatest(floor, began_at)';

/**
 * Audits the log and the tables in one database snapshot, so concurrent commits cannot disturb it.
 *
 * - *dense*: every position from the floor to the head has an entry (the primary key allows only one), unless this log may have gaps;
 * - *one-group*: an entry's group is its workspace, its person, or a private project of its workspace;
 * - *state-is-log*: the last entry of a record equals its row, and a record whose last entry is DELETE has no row;
 * - *columns-are-record*: the columns equal the fields of the record;
 * - *group-follows-parent*: a record has the group of the record that contains it;
 * - what `audit-series.ts` finds about repeating tasks.
 */
export async function auditLog(client: ClientBase): Promise<LogAudit> {
  await client.query('begin isolation level repeatable read read only');
  try {
    await client.query(`set local statement_timeout = 0; set local timezone = 'UTC'`);
    const { rows } = await client.query<{ head: string; floor: string; entries: string; dense: boolean }>(
      `select coalesce(max(sync_id), s.at)::text as head, s.at::text as floor, count(sync_id)::text as entries,
         s.gaps or coalesce(max(sync_id), s.at) - s.at = count(sync_id) as dense
       from (select ${BEGINNING} as at, gap_max > 0 as gaps from sync.log_state) s
         left join sync.sync_actions a on a.sync_id > s.at group by s.at, s.gaps`,
    );
    const [state] = rows;
    if (state === undefined)
      throw new Error('sync.log_state has no row. Check that DATABASE_URL names the migrated database of sync.');
    const findings: AuditFinding[] = [];
    if (!state.dense) findings.push(...(await holes(client)));
    findings.push(...(await strayGroups(client)));
    for (const model of MODELS) {
      findings.push(
        ...(await stateOf(client, model)),
        ...(await columnsAgainstRecord(client, model)),
        ...(await groupAgainstParent(client, model)),
      );
    }
    const repeating = await auditSeries(client);
    findings.push(...repeating.findings);
    const { series } = repeating;
    return { head: BigInt(state.head), floor: BigInt(state.floor), entries: Number(state.entries), series, findings };
  } finally {
    await client.query('rollback');
  }
}

async function holes(client: ClientBase): Promise<AuditFinding[]> {
  const { rows } = await client.query<{ after: string; next: string }>(
    `select after::text, next::text from (
       select sync_id as next, lag(sync_id, 1, s.at) over (order by sync_id) as after
       from (select ${BEGINNING} as at from sync.log_state) s join sync.sync_actions a on a.sync_id > s.at
     ) steps where next <> after + 1 limit ${FINDINGS_MAX}`,
  );
  return rows.map(({ after, next }) => ({ guarantee: 'dense', seen: `no entry between ${after} and ${next}` }));
}

async function strayGroups(client: ClientBase): Promise<AuditFinding[]> {
  const { rows } = await client.query<{ sync_id: string; group_id: string }>(
    `select sync_id::text, group_id from sync.sync_actions a
     where group_id is distinct from workspace_id
       and not exists (select from sync.users u where u.id = a.group_id)
       and not exists (select from sync.projects p where p.id = a.group_id and p.workspace_id = a.workspace_id)
       and not exists (select from sync.sync_actions p where p.model = 'Project' and p.model_id = a.group_id and p.workspace_id = a.workspace_id)
       -- The first entries of a deleted project may have been trimmed.
       and (select floor from sync.log_state) = 0
     limit ${FINDINGS_MAX}`,
  );
  return rows.map(({ sync_id, group_id }) => ({
    guarantee: 'one-group',
    seen: `entry ${sync_id} has group ${group_id}, which is not its workspace, a person or a project of its workspace`,
  }));
}

async function stateOf(client: ClientBase, model: Model): Promise<AuditFinding[]> {
  const { rows } = await client.query<{ id: string; seen: string }>(
    `with last as (
       select distinct on (model_id) model_id, sync_id, action, record::text as record from sync.sync_actions where model = $1 order by model_id, sync_id desc
     )
     select coalesce(l.model_id, t.id)::text as id,
       case when t.id is null then 'has entry ' || l.sync_id || ' and no row'
            when l.model_id is null then 'has a row and no entry'
            when l.action = 'DELETE' then 'has a row, although entry ' || l.sync_id || ' deletes it'
            else 'entry ' || l.sync_id || ' and the row differ' end as seen
     from last l full join sync.${model.table} t on t.id = l.model_id
     where (t.id is null and l.action <> 'DELETE')
        or (l.model_id is null and (select floor from sync.log_state) = 0)
        or (t.id is not null and l.model_id is not null and (l.action = 'DELETE' or l.record <> t.record::text))
     limit ${FINDINGS_MAX}`,
    [model.name],
  );
  return rows.map(({ id, seen }) => ({ guarantee: 'state-is-log', seen: `${model.name} ${id}: ${seen}` }));
}

async function columnsAgainstRecord(client: ClientBase, model: Model): Promise<AuditFinding[]> {
  const columns = columnsOf(model);
  const typed = columns.map(({ field, type }) => `"${field}" ${type}`).join(', ');
  const differing = columns.map(({ field, name }) => `t.${name} is distinct from c."${field}"`).join(' or ');
  const { rows } = await client.query<{ id: string }>(
    `select t.id::text from sync.${model.table} t, json_to_record(t.record) as c(${typed}) where ${differing} limit ${FINDINGS_MAX}`,
  );
  return rows.map(({ id }) => ({
    guarantee: 'columns-are-record',
    seen: `${model.name} ${id}: a column differs from the record`,
  }));
}

async function groupAgainstParent(client: ClientBase, model: Model): Promise<AuditFinding[]> {
  const { audience } = model;
  const field =
    audience.kind === 'parent' || audience.kind === 'membership' || audience.kind === 'project' ? audience.field : 'id';
  const parent = model.fields[field]?.reference?.model;
  if (parent === undefined) return [];
  const { rows } = await client.query<{ id: string }>(
    `select t.id::text from sync.${model.table} t left join sync.${modelNamed(parent).table} p on p.id = t.${snakeCase(field)}
     where t.${snakeCase(field)} is not null and (p.id is null or p.group_id <> t.group_id)
       -- A sweep has yet to change the rest.
       and not exists (select from sync.sweeps s where s.workspace_id = t.workspace_id) limit ${FINDINGS_MAX}`,
  );
  return rows.map(({ id }) => ({
    guarantee: 'group-follows-parent',
    seen: `${model.name} ${id} does not have the group of its ${parent}`,
  }));
}
