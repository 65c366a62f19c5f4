import type { Knex } from 'knex';

/** The tables of the models. */
const TABLES = `
create table sync.workspaces (
  id uuid primary key, name text not null, url_key text not null, logo_url text, created_at timestamptz not null,
  updated_at timestamptz not null, workspace_id uuid, group_id uuid not null, record json not null
);
create unique index workspaces_url_key_key on sync.workspaces (url_key);
create index workspaces_group_id_id_idx on sync.workspaces (group_id, id);

create table sync.users (
  id uuid primary key, name text not null, email text, avatar_url text, username text,
  created_at timestamptz not null, updated_at timestamptz not null, workspace_id uuid, group_id uuid not null,
  record json not null
);
create index users_group_id_id_idx on sync.users (group_id, id);

create table sync.workspace_members (
  id uuid primary key, user_id uuid not null, role text not null, created_at timestamptz not null,
  updated_at timestamptz not null, workspace_id uuid, group_id uuid not null, record json not null
);
create unique index workspace_members_workspace_id_user_id_key on sync.workspace_members (workspace_id, user_id);
create index workspace_members_group_id_id_idx on sync.workspace_members (group_id, id);
create index workspace_members_user_id_idx on sync.workspace_members (user_id);

create table sync.teams (
  id uuid primary key, key text not null, name text not null, description text, created_at timestamptz not null,
  updated_at timestamptz not null, archived_at timestamptz, workspace_id uuid, group_id uuid not null,
  record json not null
);
create unique index teams_workspace_id_key_key on sync.teams (workspace_id, key);
create index teams_group_id_id_idx on sync.teams (group_id, id);

create table sync.team_members (
  id uuid primary key, team_id uuid not null, user_id uuid not null, created_at timestamptz not null,
  updated_at timestamptz not null, workspace_id uuid, group_id uuid not null, record json not null
);
create unique index team_members_team_id_user_id_key on sync.team_members (team_id, user_id);
create index team_members_group_id_id_idx on sync.team_members (group_id, id);
create index team_members_user_id_idx on sync.team_members (user_id);

create table sync.projects (
  id uuid primary key, team_id uuid, key text not null, name text not null, description text, status text not null,
  is_private boolean not null, lead_id uuid, creator_id uuid not null, start_date date, target_date date,
  completed_at timestamptz, sort_order text not null, created_at timestamptz not null,
  updated_at timestamptz not null, archived_at timestamptz, workspace_id uuid, group_id uuid not null,
  record json not null
);
create unique index projects_group_id_key_key on sync.projects (group_id, key);
create index projects_group_id_id_idx on sync.projects (group_id, id);
create index projects_workspace_id_idx on sync.projects (workspace_id);
create index projects_team_id_idx on sync.projects (team_id) where team_id is not null;
create index projects_lead_id_idx on sync.projects (lead_id) where lead_id is not null;

create table sync.project_members (
  id uuid primary key, project_id uuid not null, user_id uuid not null, created_at timestamptz not null,
  updated_at timestamptz not null, workspace_id uuid, group_id uuid not null, record json not null
);
create unique index project_members_project_id_user_id_key on sync.project_members (project_id, user_id);
create index project_members_group_id_id_idx on sync.project_members (group_id, id);
create index project_members_user_id_idx on sync.project_members (user_id);

create table sync.labels (
  id uuid primary key, team_id uuid, name text not null, color text, created_at timestamptz not null,
  updated_at timestamptz not null, archived_at timestamptz, workspace_id uuid, group_id uuid not null,
  record json not null
);
create index labels_group_id_id_idx on sync.labels (group_id, id);
create index labels_workspace_id_idx on sync.labels (workspace_id);
create index labels_team_id_idx on sync.labels (team_id) where team_id is not null;

create table sync.tasks (
  id uuid primary key, number integer not null, title text not null, description text, project_id uuid,
  team_id uuid, assignee_id uuid, creator_id uuid not null, start text not null, start_bucket text not null,
  start_date date, today_index_reference_date date, deadline_at date, priority integer not null,
  label_ids uuid[] not null, sort_order text not null, repeat_rule text, repeat_template_id uuid,
  completed_at timestamptz, created_at timestamptz not null, updated_at timestamptz not null,
  archived_at timestamptz, workspace_id uuid, group_id uuid not null, record json not null
);
create unique index tasks_workspace_id_number_key on sync.tasks (workspace_id, number);
create index tasks_group_id_id_idx on sync.tasks (group_id, id);
create index tasks_project_id_idx on sync.tasks (project_id) where project_id is not null;
create index tasks_team_id_idx on sync.tasks (team_id) where team_id is not null;
create index tasks_assignee_id_idx on sync.tasks (assignee_id) where assignee_id is not null;
create index tasks_label_ids_idx on sync.tasks using gin (label_ids) where label_ids <> '{}';
create index tasks_repeat_template_id_idx on sync.tasks (repeat_template_id) where repeat_template_id is not null;

create table sync.task_checklist_items (
  id uuid primary key, task_id uuid not null, title text not null, completed_at timestamptz,
  sort_order text not null, created_at timestamptz not null, updated_at timestamptz not null, workspace_id uuid,
  group_id uuid not null, record json not null
);
create index task_checklist_items_group_id_id_idx on sync.task_checklist_items (group_id, id);
create index task_checklist_items_workspace_id_idx on sync.task_checklist_items (workspace_id);
create index task_checklist_items_task_id_idx on sync.task_checklist_items (task_id);

create table sync.comments (
  id uuid primary key, task_id uuid not null, author_id uuid not null, parent_id uuid, body text not null,
  edited_at timestamptz, created_at timestamptz not null, updated_at timestamptz not null, workspace_id uuid,
  group_id uuid not null, record json not null
);
create index comments_group_id_id_idx on sync.comments (group_id, id);
create index comments_workspace_id_idx on sync.comments (workspace_id);
create index comments_task_id_idx on sync.comments (task_id);
create index comments_parent_id_idx on sync.comments (parent_id) where parent_id is not null;

create table sync.task_counters (workspace_id uuid primary key, last_number integer not null);

create table sync.user_audiences (user_id uuid not null, group_id uuid not null, primary key (user_id, group_id));
create index user_audiences_group_id_idx on sync.user_audiences (group_id, user_id);
`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(TABLES);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    `drop table sync.user_audiences, sync.task_counters, sync.comments, sync.task_checklist_items, sync.tasks, sync.labels, sync.project_members, sync.projects, sync.team_members, sync.teams, sync.workspace_members, sync.users, sync.workspaces`,
  );
}
