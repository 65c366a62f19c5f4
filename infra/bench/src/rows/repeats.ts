import type { Client } from 'pg';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { measureOwnWork } from './own-work.ts';

/** How many series a second get their next task when the day of all of them has begun, and how long the changes of another person take meanwhile. */
export function repeatRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  return measureOwnWork(context, context.sizes.repeatingTasks, {
    what: (tasks) => `next tasks of ${tasks} series that are due`,
    prepare: repeat,
    isLeft: `repeat_next_date <= (now() at time zone 'UTC')::date`,
  });
}

/** As if each task of the workspace had begun a daily series yesterday. */
async function repeat(client: Client, workspaceId: string): Promise<void> {
  await client.query(
    `with days as (
       select ((now() at time zone 'UTC')::date - 1) as yesterday, (now() at time zone 'UTC')::date as today
     ), fields as (
       select t.id, json_build_object('repeatRule', 'FREQ=DAILY', 'repeatAnchor', yesterday, 'repeatIndex', 1,
         'repeatTemplateId', t.id, 'repeatNextDate', today, 'startDate', yesterday) as set
       from sync.tasks t, days where workspace_id = $1 and archived_at is null and repeat_rule is null
     )
     update sync.tasks t set start_date = yesterday, repeat_rule = 'FREQ=DAILY', repeat_anchor = yesterday, repeat_index = 1,
       repeat_template_id = t.id, repeat_next_date = today, record = (
         select cast('{' || string_agg(concat(to_json(key), ':', coalesce(fields.set -> key, value)), ',' order by place) || '}' as json)
         from json_each(t.record) with ordinality as stored(key, value, place))
     from fields, days where fields.id = t.id`,
    [workspaceId],
  );
}
