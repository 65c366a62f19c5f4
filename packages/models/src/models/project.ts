import { choice, date, flag, pastTimestamp, rank, reference, text } from '../field.ts';
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
    status: choice(['active', 'on_hold', 'done', 'dropped'], {
      doc: 'Where it stands. `done` sets `completedAt`, any other clears it; where a change gives both and they contradict, this one counts.',
      initial: 'active',
    }),
    isPrivate: flag({
      doc: 'Seen by its members only. Changed by owners and admins, and by who created or leads it; its creator and lead are inside.',
      initial: false,
      changedBy: 'project',
    }),
    leadId: reference('User', 'keep', {
      doc: 'Who answers for it; inside when it is private. Changed by owners and admins, and by who created or leads it.',
      nullable: true,
      changedBy: 'project',
    }),
    creatorId: reference('User', 'keep', { doc: 'Who made it.', assigned: 'actor', immutable: true }),
    startDate: date({ doc: 'When work begins.', nullable: true }),
    targetDate: date({ doc: 'When it should be done.', nullable: true }),
    completedAt: pastTimestamp({
      doc: 'When it was marked done, at most a day ahead. Given alone, it makes `status` `done`; null makes a `done` one `active`.',
      nullable: true,
    }),
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
