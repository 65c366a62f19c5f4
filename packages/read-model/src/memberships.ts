import { can } from '@wts/access';
import { ROLES, type Role } from '@wts/contracts';

/*
 * Who sees the records of a group, decided by memberships: in the workspace, or in the private project and its workspace too. Who left
 * the workspace no longer counts, also before the sweep has deleted their membership of the project.
 *
 * The rule is needed in several forms, which are all here: a predicate on memberships that are in memory, the memberships that are read
 * with the state of the log (`GroupReader`), and queries for statements that read by the memberships of their own snapshot.
 * `visibility-model.pg.test.ts` compares those of sync.
 */

/** What is known of a person. */
export interface Memberships {
  readonly userId: string;
  isInWorkspace(workspaceId: string): boolean;
  isInProject(projectId: string): boolean;
}

/** `workspaceId` null: the record of a person, whose group is their own. Keeps sync.membership.workspace-first. */
export function seesGroup(
  person: Memberships,
  { workspaceId, groupId }: { readonly workspaceId: string | null; readonly groupId: string },
): boolean {
  if (workspaceId === null) return groupId === person.userId;
  return person.isInWorkspace(workspaceId) && (groupId === workspaceId || person.isInProject(groupId));
}

/** The workspaces of memberships that fulfil a condition, as a query of ids. */
export function homesSql(condition: string): string {
  return `select workspace_id from sync.workspace_members where ${condition}`;
}

/** A condition on a membership, whose alias is SQL. */
export function hasRoleSql(member: string, role: Role): string {
  return `${member}.role = '${role}'`;
}

/** Lists are texts divided by spaces and commas, because `pg` parses an array one character at a time. */
export interface MembershipLists {
  readonly workspaces: string;
  /** Each list of projects begins with their workspace. */
  readonly projects: string;
}

/**
 * The columns of `MembershipLists`: the memberships of a person, or only those in one workspace. Both are SQL: a parameter, or the literal
 * of a checked id. There is no join, whose row estimates could make a bad plan. Relies on the indexes of `user_id`.
 */
export function membershipListsSql(userId: string, workspaceId: string): string {
  const theirs = `user_id = ${userId}::uuid and (${workspaceId}::uuid is null or workspace_id = ${workspaceId}::uuid)`;
  return `array_to_string(array(${homesSql(theirs)}), ' ') as workspaces,
    array_to_string(array(
      select concat(workspace_id, ' ', string_agg(project_id::text, ' ')) from sync.project_members
      where ${theirs} and group_id = project_id group by workspace_id
    ), ',') as projects`;
}

/**
 * The private projects of each workspace in `held`: a membership of a project may still be stored after that of its workspace ended.
 * Keeps sync.membership.workspace-first and never.shown-outside.
 */
export function projectsOf(row: MembershipLists, held: ReadonlySet<string>): [home: string, projects: string[]][] {
  return listOf(row.projects, ',').flatMap((list): [string, string[]][] => {
    const [home = '', ...projects] = list.split(' ');
    return held.has(home) ? [[home, projects]] : [];
  });
}

export function listOf(text: string, divider: string): string[] {
  return text === '' ? [] : text.split(divider);
}

/**
 * The memberships of a person in workspaces, as a query of `id`, `workspace_id` and `role`. `userId` is SQL. Relies on the index
 * (user_id), and with a condition on the workspace on the unique index (workspace_id, user_id).
 */
export function membershipsSql(userId: string): string {
  return `select id, workspace_id, role from sync.workspace_members where user_id = ${userId}`;
}

/**
 * The workspaces and the private projects of a person as a query, for statements that select by what the person is in at their own
 * snapshot: the same as in `personGroupsOf`, without the person's own group. `userId` is SQL, and each of `within` an array: only
 * workspaces that are in all of them, and their projects. Keeps sync.membership.workspace-first.
 */
export function ownGroupsSql(userId: string, within: readonly string[]): string {
  const theirs = [`user_id = ${userId}`, ...within.map((list) => `workspace_id = any(${list})`)].join(' and ');
  const homes = homesSql(theirs);
  return `${homes} union all
      select project_id from sync.project_members where ${theirs} and group_id = project_id and workspace_id in (${homes})`;
}

/** Memberships of projects, each with that of the workspace. */
const PROJECT_MEMBERS = `sync.project_members pm
      join sync.workspace_members wm on wm.workspace_id = pm.workspace_id and wm.user_id = pm.user_id`;

/**
 * The members of a private project with their role in its workspace, as a query of `user_id`, `record` and `role`. `projectId` is SQL.
 */
export function projectMembersSql(projectId: string): string {
  return `select pm.user_id, pm.record, wm.role from ${PROJECT_MEMBERS} where pm.project_id = ${projectId}`;
}

/** The projects of a person in one workspace, as a query of ids. Both are SQL. */
export function ownProjectsSql(userId: string, workspaceId: string): string {
  return `select pm.project_id from ${PROJECT_MEMBERS} where pm.user_id = ${userId} and pm.workspace_id = ${workspaceId}`;
}

const MANAGERS = ROLES.filter((role) => can(role, 'manage'))
  .map((role) => `'${role}'`)
  .join(', ');

/**
 * A condition on rows that one of these people may see, or is in a workspace that they manage: managers add people to its private
 * projects without seeing them. `people` is SQL of an array of ids, `groups` a query of the groups in question: others can add a
 * person to any number of projects, so not all of them are read.
 */
export function seenOrManagedSql(people: string, groups: string): string {
  const homes = homesSql(`user_id = any(${people})`);
  return `(group_id = any(${people} || array(${homes}))
    or group_id = any(array(select pm.project_id from ${PROJECT_MEMBERS} where pm.user_id = any(${people}) and pm.project_id in (${groups})))
    or workspace_id = any(array(${homes} and role in (${MANAGERS}))))`;
}
