-- Last release: 0.1.0. Made by a test, see README.md.
set check_function_bodies = off;

set role wts_sync;

create sequence sync.migrations_id_seq as integer;

create sequence sync.migrations_lock_index_seq as integer;

CREATE OR REPLACE FUNCTION sync.begin_epoch()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog'
AS $function$
    declare
      begin_at bigint;
    begin
      lock table sync.log_lock in share update exclusive mode;
      update sync.log_state set epoch = gen_random_uuid(), lineage = sync.log_lineage(),
        began_at = (greatest(began_at, coalesce((select max(sync_id) from sync.sync_actions), 0)) / 1000000000 + 2) * 1000000000
        returning began_at into begin_at;
      execute format('create table sync.sync_actions_from_%1$s (like sync.sync_actions including all,
        check (sync_id >= %1$s and sync_id < %2$s))', begin_at, begin_at + 1000000);
      execute format('alter table sync.sync_actions attach partition sync.sync_actions_from_%1$s for values from (%1$s) to (%2$s)',
        begin_at, begin_at + 1000000);
    end $function$;

CREATE OR REPLACE FUNCTION sync.check_moves(workspaces uuid[], models text[], expected text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
    begin
      perform sync.insist(not exists (
        select from unnest(workspaces, models) as entry(workspace_id, model)
          left join sync.workspace_moves move on move.workspace_id = entry.workspace_id
        where entry.workspace_id is not null and entry.model <> 'User'
          and case when expected is null then move.state in ('moving', 'moved', 'arriving')
            else move.state is distinct from expected end
      ));
      return true;
    end
  $function$;

CREATE OR REPLACE FUNCTION sync.find_page(groups uuid[], after bigint, up_to bigint, size integer)
 RETURNS bigint[]
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
    declare
      places bigint[] := '{}';
      more bigint[];
      reached bigint := after;
      width bigint := size;
      edge bigint;
    begin
      while reached < up_to and cardinality(places) < size loop
        edge := least(up_to, reached + width);
        more := array(
          select sync_id from sync.sync_actions
          where group_id = any(groups) and sync_id > reached and sync_id <= edge
          order by group_id, sync_id limit 8 * size
        );
        if cardinality(more) = 8 * size then
          -- As many as a page holds lie before this place.
          width := (select place from unnest(more) place order by place offset size - 1 limit 1) - reached;
          continue;
        end if;
        places := places || array(select place from unnest(more) place order by place limit size - cardinality(places));
        reached := edge;
        width := least(32 * width, size + 2 * (reached - after) * (size - cardinality(places)) / (1 + cardinality(places)));
      end loop;
      return places;
    end
    $function$;

CREATE OR REPLACE FUNCTION sync.groups_between(after bigint, up_to bigint)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
    begin
      return array(select distinct group_id from sync.sync_actions where sync_id > after and sync_id <= up_to);
    end
  $function$;

CREATE OR REPLACE FUNCTION sync.groups_of_next(after bigint, up_to bigint, size bigint, OUT reached bigint, OUT groups uuid[])
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
    begin
      with next as materialized (
        select sync_id, group_id from sync.sync_actions where sync_id > after and sync_id <= up_to order by sync_id limit size
      )
      select case count(*) when size then max(sync_id) else up_to end, array_agg(distinct group_id) into reached, groups from next;
    end
  $function$;

CREATE OR REPLACE FUNCTION sync.insist(holds boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      if holds is not true then
        raise exception 'what was looked at has changed' using errcode = 'serialization_failure';
      end if;
    end
  $function$;

CREATE OR REPLACE FUNCTION sync.known_trigrams(part text, begins boolean)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
    declare
      other text := left(translate('xyz', lower(left(part, 1) || right(part, 1)), ''), 1);
      longer text := case when begins then '' else other end || part || other;
    begin
      return array(select unnest(public.show_trgm(part)) intersect select unnest(public.show_trgm(longer)));
    end
  $function$;

CREATE OR REPLACE FUNCTION sync.log_lineage()
 RETURNS text
 LANGUAGE sql
AS $function$select system_identifier || '/' || sync.log_timeline() || '/' || 'sync.log_state'::regclass::oid from pg_control_system()$function$;

CREATE OR REPLACE FUNCTION sync.log_timeline()
 RETURNS text
 LANGUAGE sql
AS $function$select left(pg_walfile_name(pg_current_wal_lsn()), 8)$function$;

CREATE OR REPLACE FUNCTION sync.search_keys(group_id uuid, title text, words text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE COST 10000
AS $function$
    declare
      own text := chr(1) || left(encode(sha256(uuid_send(group_id)), 'base64'), 11);
      lexemes text;
    begin
      if octet_length(words) > 2000 then
        lexemes := (select string_agg(left(lexeme, 500), own || '~') from unnest(tsvector_to_array(sync.search_words(words))) lexeme);
      else
        lexemes := array_to_string(tsvector_to_array(sync.search_words(words)), own || '~');
      end if;
      return array_to_tsvector(string_to_array(
        substr(own, 2) || coalesce(array_to_string(public.show_trgm(title), own) || own, '') || coalesce('~' || lexemes, ''), chr(1)));
    end
  $function$;

CREATE OR REPLACE FUNCTION sync.search_queries(groups uuid[], search text, words text[], in_title boolean, OUT of_groups uuid[], OUT query tsquery)
 RETURNS SETOF record
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE ROWS 1
AS $function$
    declare
      word text;
      lexemes tsquery;
      trigrams text[];
      is_short boolean := cardinality(words) = 0;
      each_word text;
      resembling text;
      whole text;
      template text;
    begin
      foreach word in array words loop
        lexemes := to_tsquery('simple', word || ':*');
        trigrams := case when in_title and numnode(lexemes) = 1 then sync.known_trigrams(word, length(word) < 3) end;
        if cardinality(trigrams) > 0 or not in_title and numnode(lexemes) > 0 then
          each_word := concat_ws(' & ', each_word, '(' || concat_ws(' | ',
            '''@' || array_to_string(trigrams, ''' & ''@') || '''',
            replace(regexp_replace(nullif(lexemes::text, ''), '''([^'']*)''', '''@~\1''', 'g'), '<->', '&')) || ')');
        end if;
        is_short := is_short or length(word) < 3;
        if in_title and length(word) > 3 then
          trigrams := public.show_trgm(word);
          resembling := concat_ws(' & ', resembling, (select '(' || string_agg(block, ' | ') || ')' from (
            select '(''@' || string_agg(trigram, ''' & ''@') || ''')' as block from unnest(trigrams) with ordinality one(trigram, nth)
            group by nth % (1 + floor(cardinality(trigrams) * 0.4))) blocks));
        end if;
      end loop;
      if in_title and is_short then
        whole := '''@' || array_to_string(nullif(sync.known_trigrams(search, false), '{}'), ''' & ''@') || '''';
      end if;
      if cardinality(groups) <= 500 and not (in_title and is_short and whole is null or each_word is null and cardinality(words) > 0) then
        template := concat_ws(' | ', each_word, whole, nullif(resembling, ''));
      end if;
      return query select array_agg(one.id),
          string_agg(replace(template, '@', left(encode(sha256(uuid_send(one.id)), 'base64'), 11)), ' | ')::tsquery
        from unnest(groups) with ordinality one(id, nth) group by case when template is not null then (nth - 1) / 8 end;
    end
  $function$;

CREATE OR REPLACE FUNCTION sync.search_words(given text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN to_tsvector('simple'::regconfig, replace(replace(replace(replace(replace(given, '_'::text, ' '::text), '-'::text, ' '::text), '/'::text, ' '::text), '.'::text, ' '::text), '@'::text, ' '::text));

CREATE OR REPLACE FUNCTION sync.use_groups()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into sync.used_groups select id from made on conflict do nothing;
      return null;
    end
  $function$;

create table sync.client_models (
  user_id uuid not null,
  schema_hash text not null,
  models text not null,
  seen_at timestamp with time zone default now() not null,
  constraint client_models_pkey PRIMARY KEY (user_id, schema_hash)
);

create table sync.comments (
  id uuid not null,
  task_id uuid not null,
  author_id uuid not null,
  parent_id uuid,
  body text not null,
  edited_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint comments_pkey PRIMARY KEY (id)
);
CREATE INDEX comments_group_id_created_at_id_idx ON sync.comments USING btree (group_id, created_at, id);
CREATE INDEX comments_parent_id_created_at_id_idx ON sync.comments USING btree (parent_id, created_at, id) WHERE (parent_id IS NOT NULL);
CREATE INDEX comments_search_keys_idx ON sync.comments USING gin (sync.search_keys(group_id, NULL::text, body));
CREATE INDEX comments_task_id_created_at_id_idx ON sync.comments USING btree (task_id, created_at, id);
CREATE INDEX comments_workspace_id_created_at_id_idx ON sync.comments USING btree (workspace_id, created_at, id);

create table sync.frozen_people (
  user_id uuid not null,
  group_id uuid not null,
  record json not null,
  frozen_at timestamp with time zone default clock_timestamp() not null,
  constraint frozen_people_pkey PRIMARY KEY (user_id, group_id)
);
CREATE INDEX frozen_people_group_id_idx ON sync.frozen_people USING btree (group_id, user_id);

create table sync.idempotency_keys (
  user_id uuid not null,
  client_id text not null,
  client_tx_id text not null,
  last_id bigint not null,
  main_ids bigint[] not null,
  created_at timestamp with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (user_id, client_id, client_tx_id)
);
CREATE INDEX idempotency_keys_created_at_idx ON sync.idempotency_keys USING brin (created_at);

create table sync.labels (
  id uuid not null,
  team_id uuid,
  name text not null,
  color text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  archived_at timestamp with time zone,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint labels_pkey PRIMARY KEY (id)
);
CREATE INDEX labels_group_id_id_idx ON sync.labels USING btree (group_id, id);
CREATE INDEX labels_team_id_idx ON sync.labels USING btree (team_id) WHERE (team_id IS NOT NULL);
CREATE INDEX labels_workspace_id_idx ON sync.labels USING btree (workspace_id);

create table sync.log_lock (

);

create table sync.log_state (
  is_only_row boolean default true not null,
  epoch uuid not null,
  floor bigint default 0 not null,
  began_at bigint default 0 not null,
  floor_moved_at timestamp with time zone default now() not null,
  lineage text default ''::text not null,
  gap_max bigint default 0 not null,
  has_moves boolean default false not null,
  shard integer,
  constraint log_state_gap_max_check CHECK ((gap_max >= 0)),
  constraint log_state_is_only_row_check CHECK (is_only_row),
  constraint log_state_pkey PRIMARY KEY (is_only_row)
);

create table sync.membership_losses (
  workspace_id uuid not null,
  user_id uuid not null,
  ended integer not null,
  taken_at timestamp with time zone,
  constraint membership_losses_pkey PRIMARY KEY (workspace_id, user_id)
);

create table sync.migrations (
  id integer default nextval('sync.migrations_id_seq'::regclass) not null,
  name character varying(255),
  batch integer,
  migration_time timestamp with time zone,
  constraint migrations_pkey PRIMARY KEY (id)
);

create table sync.migrations_lock (
  index integer default nextval('sync.migrations_lock_index_seq'::regclass) not null,
  is_locked integer,
  constraint migrations_lock_pkey PRIMARY KEY (index)
);

create table sync.project_members (
  id uuid not null,
  project_id uuid not null,
  user_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint project_members_pkey PRIMARY KEY (id)
);
CREATE INDEX project_members_group_id_id_idx ON sync.project_members USING btree (group_id, id);
CREATE UNIQUE INDEX project_members_project_id_user_id_key ON sync.project_members USING btree (project_id, user_id);
CREATE INDEX project_members_user_id_idx ON sync.project_members USING btree (user_id);

create table sync.projects (
  id uuid not null,
  team_id uuid,
  key text not null,
  name text not null,
  description text,
  status text not null,
  is_private boolean not null,
  lead_id uuid,
  creator_id uuid not null,
  start_date date,
  target_date date,
  completed_at timestamp with time zone,
  sort_order text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  archived_at timestamp with time zone,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint projects_pkey PRIMARY KEY (id)
);
CREATE INDEX projects_group_id_id_idx ON sync.projects USING btree (group_id, id);
CREATE UNIQUE INDEX projects_group_id_key_key ON sync.projects USING btree (group_id, key);
CREATE INDEX projects_lead_id_idx ON sync.projects USING btree (lead_id) WHERE (lead_id IS NOT NULL);
CREATE INDEX projects_order_idx ON sync.projects USING btree (workspace_id, sort_order COLLATE "C", id) WHERE ((sort_order COLLATE "C") > ''::text);
CREATE INDEX projects_team_id_idx ON sync.projects USING btree (team_id) WHERE (team_id IS NOT NULL);
CREATE INDEX projects_unranked_idx ON sync.projects USING btree (workspace_id) WHERE ((sort_order COLLATE "C") = ''::text);
CREATE INDEX projects_workspace_id_idx ON sync.projects USING btree (workspace_id);

create table sync.purge_state (
  is_only_row boolean default true not null,
  retention_days integer not null,
  last_round_at timestamp with time zone not null,
  waits_until timestamp with time zone,
  constraint purge_state_is_only_row_check CHECK (is_only_row),
  constraint purge_state_pkey PRIMARY KEY (is_only_row)
);

create table sync.sweeps (
  kind text not null,
  model text not null,
  root_id uuid not null,
  workspace_id uuid,
  user_id uuid,
  actor_id uuid not null,
  generation integer default 0 not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  served_at timestamp with time zone default clock_timestamp() not null,
  leased_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint sweeps_pkey PRIMARY KEY (root_id, model, kind)
);
CREATE INDEX sweeps_user_id_idx ON sync.sweeps USING btree (user_id, workspace_id) WHERE (user_id IS NOT NULL);

create table sync.sync_actions (
  sync_id bigint not null,
  event_id uuid not null,
  workspace_id uuid,
  group_id uuid not null,
  model text not null,
  model_id uuid not null,
  action text not null,
  record json not null,
  data json,
  changed text[] not null,
  actor_id uuid not null,
  client_id text not null,
  client_tx_id text not null,
  created_at timestamp with time zone not null,
  completes boolean default false not null,
  constraint sync_actions_pkey PRIMARY KEY (sync_id)
) partition by RANGE (sync_id);
CREATE INDEX sync_actions_group_id_idx ON ONLY sync.sync_actions USING btree (group_id, sync_id);
CREATE INDEX sync_actions_model_id_idx ON ONLY sync.sync_actions USING btree (model_id, sync_id);
CREATE INDEX sync_actions_moves_idx ON ONLY sync.sync_actions USING btree (group_id, sync_id) WHERE ((model = ANY (ARRAY['WorkspaceMember'::text, 'ProjectMember'::text])) AND (action = ANY (ARRAY['INSERT'::text, 'DELETE'::text])));

create table sync.task_checklist_items (
  id uuid not null,
  task_id uuid not null,
  title text not null,
  completed_at timestamp with time zone,
  sort_order text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint task_checklist_items_pkey PRIMARY KEY (id)
);
CREATE INDEX task_checklist_items_group_id_created_at_id_idx ON sync.task_checklist_items USING btree (group_id, created_at, id);
CREATE INDEX task_checklist_items_order_idx ON sync.task_checklist_items USING btree (workspace_id, task_id, sort_order COLLATE "C", id) WHERE ((sort_order COLLATE "C") > ''::text);
CREATE INDEX task_checklist_items_task_id_created_at_id_idx ON sync.task_checklist_items USING btree (task_id, created_at, id);
CREATE INDEX task_checklist_items_unranked_idx ON sync.task_checklist_items USING btree (workspace_id, task_id) WHERE ((sort_order COLLATE "C") = ''::text);
CREATE INDEX task_checklist_items_workspace_id_created_at_id_idx ON sync.task_checklist_items USING btree (workspace_id, created_at, id);

create table sync.task_counters (
  workspace_id uuid not null,
  last_number integer not null,
  constraint task_counters_pkey PRIMARY KEY (workspace_id)
);

create table sync.tasks (
  id uuid not null,
  number integer not null,
  title text not null,
  description text,
  project_id uuid,
  team_id uuid,
  assignee_id uuid,
  creator_id uuid not null,
  start text not null,
  start_bucket text not null,
  start_date date,
  today_index_reference_date date,
  deadline_at date,
  priority integer not null,
  label_ids uuid[] not null,
  sort_order text not null,
  repeat_rule text,
  repeat_template_id uuid,
  completed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  archived_at timestamp with time zone,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  repeat_from text not null,
  repeat_anchor date,
  repeat_index integer,
  repeat_next_date date,
  repeat_waiting boolean not null,
  repeat_error text,
  constraint tasks_pkey PRIMARY KEY (id)
);
CREATE INDEX tasks_assignee_id_created_at_id_idx ON sync.tasks USING btree (assignee_id, created_at, id) WHERE (assignee_id IS NOT NULL);
CREATE INDEX tasks_due_idx ON sync.tasks USING btree (repeat_next_date, workspace_id, id) WHERE ((repeat_next_date IS NOT NULL) AND (archived_at IS NULL) AND (repeat_error IS NULL));
CREATE INDEX tasks_group_id_completed_at_id_idx ON sync.tasks USING btree (group_id, completed_at, id) WHERE (completed_at IS NOT NULL);
CREATE INDEX tasks_group_id_created_at_id_idx ON sync.tasks USING btree (group_id, created_at, id);
CREATE INDEX tasks_label_ids_idx ON sync.tasks USING gin (label_ids) WHERE (label_ids <> '{}'::uuid[]);
CREATE INDEX tasks_order_idx ON sync.tasks USING btree (workspace_id, project_id, sort_order COLLATE "C", id) WHERE ((sort_order COLLATE "C") > ''::text);
CREATE INDEX tasks_project_id_created_at_id_idx ON sync.tasks USING btree (project_id, created_at, id) WHERE (project_id IS NOT NULL);
CREATE INDEX tasks_purge_idx ON sync.tasks USING btree (archived_at, id) WHERE (archived_at IS NOT NULL);
CREATE INDEX tasks_repeat_stopped_idx ON sync.tasks USING btree (id) WHERE (repeat_waiting OR (repeat_error IS NOT NULL));
CREATE INDEX tasks_repeat_template_id_created_at_id_idx ON sync.tasks USING btree (repeat_template_id, created_at, id) WHERE (repeat_template_id IS NOT NULL);
CREATE INDEX tasks_search_keys_idx ON sync.tasks USING gin (sync.search_keys(group_id, title, description));
CREATE INDEX tasks_team_id_created_at_id_idx ON sync.tasks USING btree (team_id, created_at, id) WHERE (team_id IS NOT NULL);
CREATE INDEX tasks_trash_idx ON sync.tasks USING btree (group_id, archived_at, id) WHERE (archived_at IS NOT NULL);
CREATE INDEX tasks_unranked_idx ON sync.tasks USING btree (workspace_id, project_id) WHERE ((sort_order COLLATE "C") = ''::text);
CREATE UNIQUE INDEX tasks_workspace_id_number_key ON sync.tasks USING btree (workspace_id, number);

create table sync.team_members (
  id uuid not null,
  team_id uuid not null,
  user_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint team_members_pkey PRIMARY KEY (id)
);
CREATE INDEX team_members_group_id_id_idx ON sync.team_members USING btree (group_id, id);
CREATE UNIQUE INDEX team_members_team_id_user_id_key ON sync.team_members USING btree (team_id, user_id);
CREATE INDEX team_members_user_id_idx ON sync.team_members USING btree (user_id);

create table sync.teams (
  id uuid not null,
  key text not null,
  name text not null,
  description text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  archived_at timestamp with time zone,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint teams_pkey PRIMARY KEY (id)
);
CREATE INDEX teams_group_id_id_idx ON sync.teams USING btree (group_id, id);
CREATE UNIQUE INDEX teams_workspace_id_key_key ON sync.teams USING btree (workspace_id, key);

create table sync.trimmed_losses (
  user_id uuid not null,
  group_id uuid not null,
  sync_id bigint not null,
  constraint trimmed_losses_pkey PRIMARY KEY (user_id, group_id)
);

create table sync.used_groups (
  id uuid not null,
  constraint used_groups_pkey PRIMARY KEY (id)
);

create table sync.user_audiences (
  user_id uuid not null,
  group_id uuid not null,
  constraint user_audiences_pkey PRIMARY KEY (user_id, group_id)
);
CREATE INDEX user_audiences_group_id_idx ON sync.user_audiences USING btree (group_id, user_id);

create table sync.users (
  id uuid not null,
  name text not null,
  email text,
  avatar_url text,
  username text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint users_pkey PRIMARY KEY (id)
);
CREATE INDEX users_group_id_id_idx ON sync.users USING btree (group_id, id);

create table sync.workspace_members (
  id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  constraint workspace_members_pkey PRIMARY KEY (id)
);
CREATE INDEX workspace_members_group_id_id_idx ON sync.workspace_members USING btree (group_id, id);
CREATE INDEX workspace_members_user_id_idx ON sync.workspace_members USING btree (user_id);
CREATE UNIQUE INDEX workspace_members_workspace_id_user_id_key ON sync.workspace_members USING btree (workspace_id, user_id);

create table sync.workspace_moves (
  workspace_id uuid not null,
  state text not null,
  base_url text,
  members uuid[] default '{}'::uuid[] not null,
  changed_at timestamp with time zone default now() not null,
  constraint workspace_moves_pkey PRIMARY KEY (workspace_id),
  constraint workspace_moves_state_check CHECK ((state = ANY (ARRAY['moving'::text, 'moved'::text, 'arriving'::text, 'removed'::text])))
);

create table sync.workspaces (
  id uuid not null,
  name text not null,
  url_key text not null,
  logo_url text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  workspace_id uuid,
  group_id uuid not null,
  record json not null,
  time_zone text not null,
  trash_retention_days integer,
  archived_at timestamp with time zone,
  constraint workspaces_pkey PRIMARY KEY (id)
);
CREATE INDEX workspaces_archived_idx ON sync.workspaces USING btree (archived_at) WHERE (archived_at IS NOT NULL);
CREATE INDEX workspaces_group_id_id_idx ON sync.workspaces USING btree (group_id, id);
CREATE UNIQUE INDEX workspaces_url_key_key ON sync.workspaces USING btree (url_key);

create table sync.sync_actions_0 partition of sync.sync_actions
  FOR VALUES FROM ('0') TO ('1000000');

CREATE TRIGGER use_groups AFTER INSERT ON sync.projects REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION sync.use_groups();

CREATE TRIGGER use_groups AFTER INSERT ON sync.users REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION sync.use_groups();

CREATE TRIGGER use_groups AFTER INSERT ON sync.workspaces REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION sync.use_groups();

insert into sync.migrations (batch, name) values
  (1, '0001-create-models'),
  (1, '0002-create-log'),
  (1, '0003-add-log-retention'),
  (1, '0004-create-client-models'),
  (1, '0005-create-insist-function'),
  (1, '0006-create-page-search'),
  (1, '0007-make-project-keys-unique-by-group'),
  (1, '0008-create-used-groups'),
  (1, '0009-create-sweeps'),
  (1, '0012-create-membership-losses'),
  (1, '0013-add-completes'),
  (1, '0014-index-pages-and-search'),
  (1, '0015-create-log-lock'),
  (1, '0016-index-order-of-tasks'),
  (1, '0017-index-order-of-lists'),
  (1, '0018-narrow-indexes'),
  (1, '0019-add-repeating'),
  (1, '0020-create-trash'),
  (1, '0021-allow-gaps'),
  (1, '0022-recognize-restores'),
  (1, '0023-index-search-by-group'),
  (1, '0024-create-workspace-moves'),
  (1, '0025-leave-room-for-updates'),
  (1, '0026-number-log'),
  (1, '0027-divide-search-texts');

grant usage on schema sync to wts_graph;
grant usage on schema sync to wts_webhooks;
grant usage on schema sync to wts_workspace;
grant select on all tables in schema sync to wts_graph;
grant select on all tables in schema sync to wts_webhooks;
grant select on all tables in schema sync to wts_workspace;

reset role;

set role wts_auth;

create sequence auth.migrations_id_seq as integer;

create sequence auth.migrations_lock_index_seq as integer;

CREATE OR REPLACE FUNCTION auth.refuse_change_of_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' and old.at < now() - interval '1 day' then return old; end if;
      raise exception 'rows of auth.events are only added, and deleted when they are old';
    end $function$;

create table auth.accounts (
  id uuid not null,
  email text,
  shown_email text not null,
  name text not null,
  email_verified boolean default false not null,
  password_hash text not null,
  created_at timestamp with time zone default now() not null,
  constraint accounts_email_key UNIQUE (email),
  constraint accounts_pkey PRIMARY KEY (id)
);

create table auth.api_keys (
  id uuid not null,
  user_id uuid not null,
  label text not null,
  key_prefix text not null,
  token_hash bytea not null,
  permissions text not null,
  workspace_id uuid,
  expires_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  made_by text,
  made_by_key uuid,
  constraint api_keys_check CHECK (((made_by_key IS NOT NULL) = (NOT (made_by IS DISTINCT FROM 'api_key'::text)))),
  constraint api_keys_made_by_check CHECK ((made_by = ANY (ARRAY['session'::text, 'api_key'::text]))),
  constraint api_keys_permissions_check CHECK ((permissions = ANY (ARRAY['read-only'::text, 'full-access'::text]))),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_token_hash_check CHECK ((length(token_hash) = 32)),
  constraint api_keys_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX api_keys_made_by_key_idx ON auth.api_keys USING btree (made_by_key) WHERE (made_by_key IS NOT NULL);
CREATE INDEX api_keys_revoked_at_idx ON auth.api_keys USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);
CREATE INDEX api_keys_user_id_idx ON auth.api_keys USING btree (user_id, created_at);
CREATE INDEX api_keys_workspace_id_idx ON auth.api_keys USING btree (workspace_id) WHERE (workspace_id IS NOT NULL);

create table auth.cells (
  shard integer not null,
  listed_at timestamp with time zone,
  people_position text,
  constraint cells_pkey PRIMARY KEY (shard)
);

create table auth.clients (
  id text not null,
  secret_hash bytea,
  name text,
  redirect_uris text[] not null,
  auth_method text not null,
  grant_types text[] not null,
  application_type text,
  created_at timestamp with time zone default now() not null,
  used_at timestamp with time zone,
  network text,
  by_operator boolean default false not null,
  constraint clients_check CHECK (((secret_hash IS NULL) = (auth_method = 'none'::text))),
  constraint clients_pkey PRIMARY KEY (id),
  constraint clients_secret_hash_check CHECK ((length(secret_hash) = 32))
);
CREATE INDEX clients_unused_idx ON auth.clients USING btree (created_at) WHERE (used_at IS NULL);

create table auth.codes (
  hash bytea not null,
  grant_id uuid not null,
  redirect_uri text not null,
  challenge text not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint codes_hash_check CHECK ((length(hash) = 32)),
  constraint codes_pkey PRIMARY KEY (hash)
);
CREATE INDEX codes_grant_idx ON auth.codes USING btree (grant_id);

create table auth.connect_codes (
  hash bytea not null,
  user_id uuid not null,
  session_id uuid not null,
  challenge text not null,
  label text not null,
  permissions text not null,
  workspace_id uuid,
  key_expires_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  uses integer default 0 not null,
  key_id uuid,
  constraint connect_codes_hash_check CHECK ((length(hash) = 32)),
  constraint connect_codes_permissions_check CHECK ((permissions = ANY (ARRAY['read-only'::text, 'full-access'::text]))),
  constraint connect_codes_pkey PRIMARY KEY (hash)
);
CREATE INDEX connect_codes_user_idx ON auth.connect_codes USING btree (user_id, created_at);

create table auth.disabled_people (
  user_id uuid not null,
  id uuid not null,
  disabled_at timestamp with time zone default clock_timestamp() not null,
  erased_at timestamp with time zone,
  constraint disabled_people_pkey PRIMARY KEY (user_id)
);
CREATE INDEX disabled_people_disabled_at_idx ON auth.disabled_people USING btree (disabled_at, id);

create table auth.events (
  id uuid not null,
  at timestamp with time zone default clock_timestamp() not null,
  kind text not null,
  user_id uuid,
  account_id uuid,
  workspace_id uuid,
  subject_id text,
  actor text not null,
  actor_id text,
  network text,
  browser text,
  request_id text,
  details jsonb default '{}'::jsonb not null,
  constraint events_actor_check CHECK ((actor = ANY (ARRAY['person'::text, 'operator'::text, 'system'::text]))),
  constraint events_pkey PRIMARY KEY (id)
);
CREATE INDEX events_at_idx ON auth.events USING btree (at);
CREATE INDEX events_unknown_idx ON auth.events USING btree (kind, at) WHERE (user_id IS NULL);
CREATE INDEX events_user_idx ON auth.events USING btree (user_id, at, id) WHERE (user_id IS NOT NULL);
CREATE INDEX events_workspace_idx ON auth.events USING btree (workspace_id, at, id) WHERE (workspace_id IS NOT NULL);

create table auth.grants (
  id uuid not null,
  user_id uuid not null,
  client_id text not null,
  client_name text,
  scopes text[] not null,
  resources text[] not null,
  created_at timestamp with time zone default now() not null,
  signed_in_at timestamp with time zone not null,
  used_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  refresh_family bytea,
  refresh_hash bytea,
  refresh_predecessor bytea,
  refresh_nonce bytea,
  refreshed_at timestamp with time zone,
  workspace_id uuid,
  ends_at timestamp with time zone,
  constraint grants_pkey PRIMARY KEY (id),
  constraint grants_refresh_family_check CHECK ((length(refresh_family) = 32)),
  constraint grants_refresh_hash_check CHECK ((length(refresh_hash) = 32)),
  constraint grants_refresh_nonce_check CHECK ((length(refresh_nonce) = 32)),
  constraint grants_refresh_predecessor_check CHECK ((length(refresh_predecessor) = 32))
);
CREATE INDEX grants_client_idx ON auth.grants USING btree (client_id);
CREATE INDEX grants_expires_at_idx ON auth.grants USING btree (expires_at);
CREATE UNIQUE INDEX grants_refresh_family_idx ON auth.grants USING btree (refresh_family);
CREATE INDEX grants_revoked_at_idx ON auth.grants USING btree (revoked_at, id) WHERE (revoked_at IS NOT NULL);
CREATE INDEX grants_user_idx ON auth.grants USING btree (user_id);

create table auth.idempotency_keys (
  key_hash bytea not null,
  owner text not null,
  fingerprint bytea not null,
  status smallint,
  body bytea,
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_fingerprint_check CHECK ((length(fingerprint) = 32)),
  constraint idempotency_keys_key_hash_check CHECK ((length(key_hash) = 32)),
  constraint idempotency_keys_pkey PRIMARY KEY (key_hash)
);
CREATE INDEX idempotency_keys_expires_at_idx ON auth.idempotency_keys USING btree (expires_at);

create table auth.identities (
  identity_hash bytea not null,
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  email text,
  email_verified boolean default false not null,
  created_at timestamp with time zone default now() not null,
  person_created_at timestamp with time zone,
  constraint identities_identity_hash_check CHECK ((length(identity_hash) = 32)),
  constraint identities_pkey PRIMARY KEY (identity_hash)
);
CREATE INDEX identities_address_idx ON auth.identities USING btree (md5(lower(email))) WHERE (email IS NOT NULL);
CREATE INDEX identities_user_id_idx ON auth.identities USING btree (user_id);

create table auth.mail_links (
  id uuid not null,
  hash bytea not null,
  kind text not null,
  account_id uuid,
  address text,
  browser_hash bytea,
  content bytea,
  sealed_with text,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  replaced_at timestamp with time zone,
  constraint mail_links_browser_hash_check CHECK ((length(browser_hash) = 32)),
  constraint mail_links_hash_check CHECK ((length(hash) = 32)),
  constraint mail_links_hash_key UNIQUE (hash),
  constraint mail_links_kind_check CHECK ((kind = ANY (ARRAY['reset'::text, 'verify'::text, 'change'::text, 'stop-change'::text, 'registration'::text, 'invitation'::text, 'take-back'::text]))),
  constraint mail_links_pkey PRIMARY KEY (id)
);
CREATE INDEX mail_links_account_id_idx ON auth.mail_links USING btree (account_id, kind);
CREATE INDEX mail_links_expires_at_idx ON auth.mail_links USING btree (expires_at);

create table auth.mails (
  id uuid not null,
  kind text not null,
  recipient text not null,
  user_id uuid,
  content bytea,
  sealed_with text,
  state text default 'waiting'::text not null,
  attempts integer default 0 not null,
  reason text,
  created_at timestamp with time zone default now() not null,
  next_at timestamp with time zone default now() not null,
  ends_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint mails_check CHECK (((state = 'waiting'::text) = (content IS NOT NULL))),
  constraint mails_pkey PRIMARY KEY (id),
  constraint mails_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'refused'::text, 'given-up'::text])))
);
CREATE INDEX mails_ended_at_idx ON auth.mails USING btree (ended_at) WHERE (state <> 'waiting'::text);
CREATE INDEX mails_next_at_idx ON auth.mails USING btree (next_at) WHERE (state = 'waiting'::text);
CREATE INDEX mails_user_id_idx ON auth.mails USING btree (user_id, created_at) WHERE (user_id IS NOT NULL);

create table auth.migrations (
  id integer default nextval('auth.migrations_id_seq'::regclass) not null,
  name character varying(255),
  batch integer,
  migration_time timestamp with time zone,
  constraint migrations_pkey PRIMARY KEY (id)
);

create table auth.migrations_lock (
  index integer default nextval('auth.migrations_lock_index_seq'::regclass) not null,
  is_locked integer,
  constraint migrations_lock_pkey PRIMARY KEY (index)
);

create table auth.moves (
  id uuid not null,
  workspace_id uuid not null,
  name text not null,
  url_key text not null,
  source integer not null,
  target integer not null,
  step text not null,
  at jsonb default '{}'::jsonb not null,
  records bigint default 0 not null,
  is_cancelled boolean default false not null,
  problem text,
  operator_id uuid not null,
  created_at timestamp with time zone default now() not null,
  held_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint moves_pkey PRIMARY KEY (id)
);
CREATE INDEX moves_created_at_idx ON auth.moves USING btree (created_at, id);
CREATE UNIQUE INDEX moves_open_idx ON auth.moves USING btree (workspace_id) WHERE (ended_at IS NULL);

create table auth.operator_tokens (
  id uuid not null,
  token_hash bytea not null,
  label text not null,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint operator_tokens_pkey PRIMARY KEY (id),
  constraint operator_tokens_token_hash_check CHECK ((length(token_hash) = 32)),
  constraint operator_tokens_token_hash_key UNIQUE (token_hash)
);

create table auth.passkeys (
  id uuid not null,
  account_id uuid not null,
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  constraint passkeys_credential_id_check CHECK (((length(credential_id) >= 1) AND (length(credential_id) <= 1023))),
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_pkey PRIMARY KEY (id)
);
CREATE INDEX passkeys_account_id_idx ON auth.passkeys USING btree (account_id);

create table auth.pending_requests (
  id_hash bytea not null,
  kind text not null,
  browser_hash bytea not null,
  content text not null,
  expires_at timestamp with time zone not null,
  client_id text,
  network text,
  constraint pending_requests_browser_hash_check CHECK ((length(browser_hash) = 32)),
  constraint pending_requests_id_hash_check CHECK ((length(id_hash) = 32)),
  constraint pending_requests_kind_check CHECK ((kind = ANY (ARRAY['authorization'::text, 'provider'::text, 'connect'::text, 'factor'::text, 'totp'::text]))),
  constraint pending_requests_pkey PRIMARY KEY (id_hash)
);
CREATE INDEX pending_requests_client_idx ON auth.pending_requests USING btree (client_id) WHERE (client_id IS NOT NULL);
CREATE INDEX pending_requests_expires_at_idx ON auth.pending_requests USING btree (expires_at);

create table auth.person_cells (
  user_id uuid not null,
  shard integer not null,
  is_there boolean default false not null,
  changed bigint default 1 not null,
  put bigint default 0 not null,
  constraint person_cells_pkey PRIMARY KEY (user_id, shard)
);
CREATE INDEX person_cells_behind_idx ON auth.person_cells USING btree (user_id) WHERE (changed <> put);

create table auth.recovery_codes (
  account_id uuid not null,
  code_hash bytea not null,
  used_at timestamp with time zone,
  constraint recovery_codes_code_hash_check CHECK ((length(code_hash) = 32)),
  constraint recovery_codes_pkey PRIMARY KEY (account_id, code_hash)
);

create table auth.sessions (
  id uuid not null,
  secret_hash bytea not null,
  user_id uuid not null,
  account_id uuid,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone default now() not null,
  method text,
  confirmed_at timestamp with time zone,
  network text,
  browser text,
  last_network text,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_secret_hash_check CHECK ((length(secret_hash) = 32)),
  constraint sessions_secret_hash_key UNIQUE (secret_hash)
);
CREATE INDEX sessions_account_id_idx ON auth.sessions USING btree (account_id);
CREATE INDEX sessions_last_used_at_idx ON auth.sessions USING btree (last_used_at);
CREATE INDEX sessions_user_id_idx ON auth.sessions USING btree (user_id);

create table auth.sign_in_failures (
  counted_hash bytea not null,
  failures integer not null,
  ends_at timestamp with time zone not null,
  constraint sign_in_failures_counted_hash_check CHECK ((length(counted_hash) = 32)),
  constraint sign_in_failures_pkey PRIMARY KEY (counted_hash)
);
CREATE INDEX sign_in_failures_ends_at_idx ON auth.sign_in_failures USING btree (ends_at);

create table auth.sign_in_places (
  account_id uuid not null,
  place_hash bytea not null,
  last_used_at timestamp with time zone default now() not null,
  constraint sign_in_places_pkey PRIMARY KEY (account_id, place_hash),
  constraint sign_in_places_place_hash_check CHECK ((length(place_hash) = 32))
);

create table auth.signing_keys (
  id text not null,
  public_jwk jsonb not null,
  private_key bytea not null,
  sealed_with text not null,
  signs_from timestamp with time zone not null,
  constraint signing_keys_pkey PRIMARY KEY (id)
);

create table auth.totp (
  account_id uuid not null,
  secret bytea not null,
  sealed_with text not null,
  last_step bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint totp_pkey PRIMARY KEY (account_id)
);

create table auth.used_challenges (
  hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint used_challenges_hash_check CHECK ((length(hash) = 32)),
  constraint used_challenges_pkey PRIMARY KEY (hash)
);
CREATE INDEX used_challenges_expires_at_idx ON auth.used_challenges USING btree (expires_at);

create table auth.workspace_cells (
  workspace_id uuid not null,
  url_key text not null,
  shard integer not null,
  claimed_at timestamp with time zone default now() not null,
  constraint workspace_cells_pkey PRIMARY KEY (workspace_id),
  constraint workspace_cells_url_key_key UNIQUE (url_key)
);
CREATE INDEX workspace_cells_shard_idx ON auth.workspace_cells USING btree (shard);

create table auth.workspace_policies (
  workspace_id uuid not null,
  requires_second_factor boolean not null,
  changed_by uuid not null,
  changed_at timestamp with time zone default now() not null,
  constraint workspace_policies_pkey PRIMARY KEY (workspace_id)
);

alter table auth.api_keys add constraint api_keys_made_by_key_fkey FOREIGN KEY (made_by_key) REFERENCES auth.api_keys(id);

alter table auth.codes add constraint codes_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES auth.grants(id) ON DELETE CASCADE;

alter table auth.mail_links add constraint mail_links_account_id_fkey FOREIGN KEY (account_id) REFERENCES auth.accounts(id) ON DELETE CASCADE;

alter table auth.passkeys add constraint passkeys_account_id_fkey FOREIGN KEY (account_id) REFERENCES auth.accounts(id) ON DELETE CASCADE;

alter table auth.recovery_codes add constraint recovery_codes_account_id_fkey FOREIGN KEY (account_id) REFERENCES auth.accounts(id) ON DELETE CASCADE;

alter table auth.sessions add constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES auth.accounts(id) ON DELETE CASCADE;

alter table auth.sign_in_places add constraint sign_in_places_account_id_fkey FOREIGN KEY (account_id) REFERENCES auth.accounts(id) ON DELETE CASCADE;

alter table auth.totp add constraint totp_account_id_fkey FOREIGN KEY (account_id) REFERENCES auth.accounts(id) ON DELETE CASCADE;

CREATE TRIGGER events_are_kept BEFORE DELETE OR UPDATE ON auth.events FOR EACH ROW EXECUTE FUNCTION auth.refuse_change_of_events();

CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON auth.events FOR EACH STATEMENT EXECUTE FUNCTION auth.refuse_change_of_events();

insert into auth.migrations (batch, name) values
  (1, '0001-create-idempotency-keys'),
  (1, '0002-create-identities'),
  (1, '0003-create-api-keys'),
  (1, '0004-create-clients'),
  (1, '0005-create-grants'),
  (1, '0006-create-signing-keys'),
  (1, '0007-create-accounts'),
  (1, '0008-create-sessions'),
  (1, '0009-create-pending-requests'),
  (1, '0010-keep-one-refresh-token'),
  (1, '0011-name-pending-clients'),
  (1, '0012-create-connect-codes'),
  (1, '0013-name-networks'),
  (1, '0014-limit-grants'),
  (1, '0015-index-addresses'),
  (1, '0016-create-events'),
  (1, '0017-create-mail-links'),
  (1, '0018-create-second-factors'),
  (1, '0019-create-operators'),
  (1, '0020-name-session-places'),
  (1, '0021-create-mails'),
  (1, '0022-add-take-back-links'),
  (1, '0023-create-cells');

reset role;

set role wts_workspace;

create sequence workspace.migrations_id_seq as integer;

create sequence workspace.migrations_lock_index_seq as integer;

create table workspace.idempotency_keys (
  key_hash bytea not null,
  owner text not null,
  fingerprint bytea not null,
  status smallint,
  body bytea,
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_fingerprint_check CHECK ((length(fingerprint) = 32)),
  constraint idempotency_keys_key_hash_check CHECK ((length(key_hash) = 32)),
  constraint idempotency_keys_pkey PRIMARY KEY (key_hash)
);
CREATE INDEX idempotency_keys_expires_at_idx ON workspace.idempotency_keys USING btree (expires_at);

create table workspace.invitations (
  id uuid not null,
  workspace_id uuid not null,
  email text,
  role text not null,
  code_hash bytea not null,
  created_by uuid not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  claimed_by uuid,
  redeemed_at timestamp with time zone,
  constraint invitations_code_hash_check CHECK ((length(code_hash) = 32)),
  constraint invitations_code_hash_key UNIQUE (code_hash),
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text, 'guest'::text])))
);
CREATE INDEX invitations_workspace_id_idx ON workspace.invitations USING btree (workspace_id, created_at);

create table workspace.migrations (
  id integer default nextval('workspace.migrations_id_seq'::regclass) not null,
  name character varying(255),
  batch integer,
  migration_time timestamp with time zone,
  constraint migrations_pkey PRIMARY KEY (id)
);

create table workspace.migrations_lock (
  index integer default nextval('workspace.migrations_lock_index_seq'::regclass) not null,
  is_locked integer,
  constraint migrations_lock_pkey PRIMARY KEY (index)
);

create table workspace.wrong_codes (
  user_id uuid not null,
  attempts integer not null,
  ends_at timestamp with time zone not null,
  constraint wrong_codes_pkey PRIMARY KEY (user_id)
);
CREATE INDEX wrong_codes_ends_at_idx ON workspace.wrong_codes USING btree (ends_at);

insert into workspace.migrations (batch, name) values
  (1, '0001-create-identities'),
  (1, '0002-create-api-keys'),
  (1, '0003-create-invitations'),
  (1, '0004-create-idempotency-keys'),
  (1, '0005-find-keys'),
  (1, '0006-verify-addresses'),
  (1, '0007-remember-key-makers'),
  (1, '0008-move-identities-to-auth'),
  (1, '0009-count-wrong-codes');

reset role;

set role wts_webhooks;

create sequence webhooks.migrations_id_seq as integer;

create sequence webhooks.migrations_lock_index_seq as integer;

create table webhooks.attempts (
  delivery_id uuid not null,
  event_at timestamp with time zone not null,
  endpoint_id uuid not null,
  number integer not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  status_code smallint,
  response_snippet text,
  error text,
  constraint attempts_pkey PRIMARY KEY (delivery_id, number, event_at)
) partition by RANGE (event_at);

create table webhooks.cursor (
  is_only_row boolean default true not null,
  epoch uuid,
  "position" bigint,
  constraint cursor_is_only_row_check CHECK (is_only_row),
  constraint cursor_pkey PRIMARY KEY (is_only_row)
);

create table webhooks.deliveries (
  id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_at timestamp with time zone not null,
  event_type text not null,
  sequence bigint not null,
  status text default 'pending'::text not null,
  attempt_count integer default 0 not null,
  scheduled_attempts smallint default 0 not null,
  scheduled_at timestamp with time zone,
  manual_at timestamp with time zone,
  created_at timestamp with time zone not null,
  last_attempt_at timestamp with time zone,
  completed_at timestamp with time zone,
  last_status_code smallint,
  last_response_snippet text,
  last_error text,
  unrecorded_attempts smallint default 0 not null,
  constraint deliveries_endpoint_id_event_id_event_at_key UNIQUE (endpoint_id, event_id, event_at),
  constraint deliveries_pkey PRIMARY KEY (id, event_at),
  constraint deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
) partition by RANGE (event_at);
CREATE INDEX deliveries_created_at_idx ON ONLY webhooks.deliveries USING btree (endpoint_id, created_at DESC);
CREATE INDEX deliveries_failed_idx ON ONLY webhooks.deliveries USING btree (endpoint_id, created_at) WHERE (status = 'failed'::text);
CREATE INDEX deliveries_first_idx ON ONLY webhooks.deliveries USING btree (endpoint_id, sequence) WHERE ((status = 'pending'::text) AND (attempt_count = 0));
CREATE INDEX deliveries_pending_tests_idx ON ONLY webhooks.deliveries USING btree (endpoint_id) WHERE ((status = 'pending'::text) AND (event_type = 'endpoint.test'::text));
CREATE INDEX deliveries_retry_idx ON ONLY webhooks.deliveries USING btree (endpoint_id, LEAST(scheduled_at, manual_at)) WHERE ((status = 'pending'::text) AND (attempt_count > 0));

create table webhooks.endpoints (
  id uuid not null,
  workspace_id uuid not null,
  url text not null,
  description text not null,
  event_types text[] not null,
  enabled boolean default true not null,
  since_position bigint not null,
  has_succeeded boolean default false not null,
  consecutive_failures integer default 0 not null,
  failing_since timestamp with time zone,
  last_failure_at timestamp with time zone,
  disabled_at timestamp with time zone,
  disabled_reason text,
  created_by uuid not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  deleted_at timestamp with time zone,
  moving_at timestamp with time zone,
  constraint endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['consecutive_failures'::text, 'gone'::text]))),
  constraint endpoints_pkey PRIMARY KEY (id)
);
CREATE INDEX endpoints_deleted_at_idx ON webhooks.endpoints USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX endpoints_workspace_id_idx ON webhooks.endpoints USING btree (workspace_id) WHERE (deleted_at IS NULL);

create table webhooks.events (
  id uuid not null,
  created_at timestamp with time zone not null,
  workspace_id uuid not null,
  "position" bigint,
  type text not null,
  body text not null,
  constraint events_pkey PRIMARY KEY (id, created_at)
) partition by RANGE (created_at);

create table webhooks.idempotency_keys (
  key_hash bytea not null,
  owner text not null,
  fingerprint bytea not null,
  status smallint,
  body bytea,
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_fingerprint_check CHECK ((length(fingerprint) = 32)),
  constraint idempotency_keys_key_hash_check CHECK ((length(key_hash) = 32)),
  constraint idempotency_keys_pkey PRIMARY KEY (key_hash)
);
CREATE INDEX idempotency_keys_expires_at_idx ON webhooks.idempotency_keys USING btree (expires_at);

create table webhooks.lanes (
  endpoint_id uuid not null,
  last_sequence bigint default 0 not null,
  last_created_at timestamp with time zone default now() not null,
  wakes bigint default 0 not null,
  due_at timestamp with time zone,
  holder uuid,
  token bigint default 0 not null,
  leased_until timestamp with time zone,
  constraint lanes_pkey PRIMARY KEY (endpoint_id)
);
CREATE INDEX lanes_due_at_idx ON webhooks.lanes USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX lanes_holder_idx ON webhooks.lanes USING btree (holder) WHERE (holder IS NOT NULL);

create table webhooks.migrations (
  id integer default nextval('webhooks.migrations_id_seq'::regclass) not null,
  name character varying(255),
  batch integer,
  migration_time timestamp with time zone,
  constraint migrations_pkey PRIMARY KEY (id)
);

create table webhooks.migrations_lock (
  index integer default nextval('webhooks.migrations_lock_index_seq'::regclass) not null,
  is_locked integer,
  constraint migrations_lock_pkey PRIMARY KEY (index)
);

create table webhooks.parked_entries (
  "position" bigint not null,
  reason text not null,
  entry text not null,
  parked_at timestamp with time zone default now() not null,
  constraint parked_entries_pkey PRIMARY KEY ("position")
);

create table webhooks.replicas (
  holder uuid not null,
  leased_until timestamp with time zone not null,
  has_ended boolean default false not null,
  constraint replicas_pkey PRIMARY KEY (holder)
);

create table webhooks.secrets (
  id uuid not null,
  endpoint_id uuid not null,
  key_id text not null,
  sealed bytea not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone,
  constraint secrets_pkey PRIMARY KEY (id)
);
CREATE INDEX secrets_endpoint_id_idx ON webhooks.secrets USING btree (endpoint_id);

create table webhooks.workspaces (
  workspace_id uuid not null,
  owner_id uuid not null,
  "position" bigint not null,
  followed_at timestamp with time zone default now() not null,
  constraint workspaces_pkey PRIMARY KEY (workspace_id)
);

create table webhooks.attempts_default partition of webhooks.attempts
  DEFAULT;

create table webhooks.deliveries_default partition of webhooks.deliveries
  DEFAULT;

create table webhooks.events_default partition of webhooks.events
  DEFAULT;

alter table webhooks.lanes add constraint lanes_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhooks.endpoints(id) ON DELETE CASCADE;

alter table webhooks.secrets add constraint secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhooks.endpoints(id) ON DELETE CASCADE;

insert into webhooks.migrations (batch, name) values
  (1, '0001-create-endpoints'),
  (1, '0002-create-deliveries'),
  (1, '0003-create-idempotency-keys'),
  (1, '0004-count-unrecorded-attempts'),
  (1, '0005-follow-workspaces'),
  (1, '0006-lease-replicas'),
  (1, '0007-move-endpoints');

reset role;
