import { choice, date, flag, rank, reference, text, timestamp } from '../field.ts';
import { model } from '../model.ts';

export const Project = model({
  name: 'Project',
  table: 'projects',
  doc: 'A body of work with an aim. A private one is seen by its members only.',
  audience: { kind: 'project', field: 'id' },
  archivable: true,
  event: 'project',
  permissions: { insert: 'contribute', update: 'contribute', delete: 'contribute' },
  // Not in the whole workspace: a key that is refused would tell of a private project to whoever tries it.
  unique: [['groupId', 'key']],
  owners: ['creatorId', 'leadId'],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'Home.', immutable: true }),
    teamId: reference('Team', 'clear', { doc: 'Team that owns it.', nullable: true }),
    key: text(
      { min: 1, max: 32, pattern: /^[A-Za-z0-9][A-Za-z0-9_-]*$/ },
      { doc: 'Short code, unique among the projects of the workspace that are not private.' },
    ),
    name: text({ min: 1, max: 200 }, { doc: 'Shown everywhere.' }),
    description: text({ max: 50_000 }, { doc: 'Markdown.', nullable: true }),
    status: choice(['active', 'on_hold', 'done', 'dropped'], { doc: 'Where it stands.', initial: 'active' }),
    isPrivate: flag({ doc: 'Seen by its members only.', initial: false }),
    leadId: reference('User', 'keep', { doc: 'Who answers for it.', nullable: true }),
    creatorId: reference('User', 'keep', { doc: 'Who made it.', assigned: 'actor', immutable: true }),
    startDate: date({ doc: 'When work begins.', nullable: true }),
    targetDate: date({ doc: 'When it should be done.', nullable: true }),
    completedAt: timestamp({ doc: 'When it was marked done.', nullable: true }),
    sortOrder: rank({ doc: 'Place in lists.', initial: '' }),
  },
});

export const ProjectMember = model({
  name: 'ProjectMember',
  table: 'project_members',
  doc: 'A person who sees a private project.',
  audience: { kind: 'membership', field: 'projectId' },
  permissions: { insert: 'project', update: 'service', delete: 'self_or_project' },
  unique: [['projectId', 'userId']],
  fields: {
    projectId: reference('Project', 'delete', { doc: 'Of which project.', immutable: true }),
    userId: reference('User', 'keep', { doc: 'Who; a member of the workspace.', immutable: true }),
  },
});
