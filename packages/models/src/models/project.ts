import { PROJECT_KEY } from '@wts/contracts';
import { choice, date, flag, pastTimestamp, rank, reference, text } from '../field.ts';
import { model } from '../model.ts';

export const Project = model({
  name: 'Project',
  table: 'projects',
  doc: 'A set of tasks with a goal. Only its members can see a private project.',
  audience: { kind: 'project', field: 'id' },
  archivable: true,
  event: 'project',
  permissions: { insert: 'contribute', update: 'contribute', delete: 'project_if_private' },
  // Not unique in the whole workspace: a refused key would reveal a private project.
  unique: [['groupId', 'key']],
  owners: ['creatorId', 'leadId'],
  search: ['name', 'description'],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'The workspace it belongs to.', immutable: true }),
    teamId: reference('Team', 'clear', { doc: 'The team that owns it.', nullable: true }),
    key: text(
      { ...PROJECT_KEY, pattern: new RegExp(PROJECT_KEY.pattern) },
      { doc: 'Short code, unique among the projects of the workspace that are not private.' },
    ),
    name: text({ min: 1, max: 200 }, { doc: 'Display name.' }),
    description: text({ max: 50_000 }, { doc: 'Markdown.', nullable: true }),
    status: choice(['active', 'on_hold', 'done', 'dropped'], {
      doc: 'Status. `done` sets `completedAt`, any other value clears it. When a change gives both and they contradict, `status` wins.',
      initial: 'active',
    }),
    isPrivate: flag({
      doc: 'True when only its members can see it; its creator and lead are members. Owners, admins, the creator and the lead can change this, with the scope `admin`.',
      initial: false,
      changedBy: 'project',
    }),
    leadId: reference('User', 'keep', {
      doc: 'The lead, who is a member of a private project. Owners, admins, the creator and the lead can change this; of a private project with the scope `admin`.',
      nullable: true,
      changedBy: 'project',
      inverse: 'ledProjects',
    }),
    creatorId: reference('User', 'keep', { doc: 'The person who created it.', assigned: 'actor', immutable: true }),
    startDate: date({ doc: 'Planned start.', nullable: true }),
    targetDate: date({ doc: 'Planned end.', nullable: true }),
    completedAt: pastTimestamp({
      doc: 'When it was completed, at most one day in the future. Setting it alone makes `status` `done`; setting it to null makes a `done` project `active`.',
      nullable: true,
    }),
    sortOrder: rank({ doc: 'Sort position in lists.', initial: '' }),
  },
});

export const ProjectMember = model({
  name: 'ProjectMember',
  table: 'project_members',
  doc: 'A member of a private project.',
  audience: { kind: 'membership', field: 'projectId' },
  permissions: { insert: 'project', update: 'service', delete: 'self_or_project' },
  instead: { update: 'A ProjectMember cannot be changed: delete it and insert another one' },
  scope: 'admin',
  unique: [['projectId', 'userId']],
  fields: {
    projectId: reference('Project', 'delete', { doc: 'The project.', immutable: true, inverse: 'members' }),
    userId: reference('User', 'keep', {
      doc: 'The person, who must be a member of the workspace.',
      immutable: true,
      inverse: 'projectMemberships',
    }),
  },
});
