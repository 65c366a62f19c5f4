import { connectTo } from '@wts/testkit';
import type { Target } from '../target.ts';

const PROJECTS = 20;
/** The newest tasks, which pages begin with, have comments. */
const TASKS_WITH_COMMENTS = 2_000;
const COMMENTS = 5;

/** A word of the title of one task in 500. */
export const SEARCHED = 'rollback';

/** A task of each second, in projects and with priorities in turn; the newest have comments. */
export async function seedGraph(databaseUrl: string, ours: Target, tasks: number): Promise<void> {
  await ours.seedTasks(tasks);
  await using client = await connectTo(databaseUrl);
  await client.query(
    `insert into sync.projects (id, key, name, status, is_private, creator_id, sort_order, created_at, updated_at,
       workspace_id, group_id, record)
     select made.id, 'P' || n, 'Project ' || n, 'active', false, $2, '', made.at, made.at, $1, $1,
       json_build_object('id', made.id, 'workspaceId', $1::uuid, 'teamId', null, 'key', 'P' || n, 'name', 'Project ' || n,
         'description', null, 'status', 'active', 'isPrivate', false, 'leadId', null, 'creatorId', $2::uuid,
         'startDate', null, 'targetDate', null, 'completedAt', null, 'sortOrder', '',
         'createdAt', ${textOf('made.at')}, 'updatedAt', ${textOf('made.at')}, 'archivedAt', null)
     from generate_series(1, ${PROJECTS}) n, lateral (select gen_random_uuid() as id, date_trunc('second', now()) + n * interval '1 millisecond' as at) made`,
    [ours.workspaceId, ours.userId],
  );
  await client.query(
    `update sync.tasks set title = made.title, priority = made.priority, project_id = made.project_id, created_at = made.at,
       record = (record::jsonb || jsonb_build_object('title', made.title, 'priority', made.priority, 'projectId', made.project_id,
         'createdAt', ${textOf('made.at')}))::json
     from (select numbered.id, numbered.nth % 5 as priority, project.id as project_id,
         date_trunc('second', now()) - numbered.nth * interval '1 second' as at,
         concat('Write down what the ', case when numbered.nth % 500 = 0 then $2 when numbered.nth % 2 = 0 then 'migration' else 'release' end, ' needs: ', numbered.nth) as title
       from (select id, row_number() over (order by id)::int as nth from sync.tasks where workspace_id = $1) numbered
       join (select id, row_number() over (order by id)::int as nth from sync.projects where workspace_id = $1) project
         on project.nth = 1 + numbered.nth % ${PROJECTS}) made
     where tasks.id = made.id`,
    [ours.workspaceId, SEARCHED],
  );
  await client.query(
    `insert into sync.comments (id, task_id, author_id, body, created_at, updated_at, workspace_id, group_id, record)
     select made.id, task.id, $2, made.body, task.created_at, task.created_at, $1, $1,
       json_build_object('id', made.id, 'workspaceId', $1::uuid, 'taskId', task.id, 'authorId', $2::uuid, 'parentId', null,
         'body', made.body, 'editedAt', null, 'createdAt', task.record -> 'createdAt', 'updatedAt', task.record -> 'createdAt')
     from (select * from sync.tasks where workspace_id = $1 order by created_at desc limit ${TASKS_WITH_COMMENTS}) task,
       generate_series(1, ${COMMENTS}) n,
       lateral (select gen_random_uuid() as id, concat('Comment ', n, ' of task ', task.number) as body) made`,
    [ours.workspaceId, ours.userId],
  );
  for (const table of ['tasks', 'projects', 'comments']) await client.query(`vacuum (full, analyze) sync.${table}`);
  await client.query('checkpoint');
}

/** A time as records have it. */
function textOf(time: string): string {
  return `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
