import { reference, text } from '../field.ts';
import { model } from '../model.ts';

export const Team = model({
  name: 'Team',
  table: 'teams',
  doc: 'A group of people inside a workspace that owns projects and tasks.',
  audience: { kind: 'workspace' },
  archivable: true,
  permissions: { insert: 'manage', update: 'manage', delete: 'manage' },
  unique: [['workspaceId', 'key']],
  search: ['name', 'key', 'description'],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'The workspace it belongs to.', immutable: true }),
    key: text(
      {
        min: 1,
        max: 16,
        pattern: /^[A-Za-z][A-Za-z0-9_-]*$/,
        words: 'must be 1 to 16 characters A-Z, a-z, 0-9, - and _, the first a letter',
      },
      { doc: 'Short code, unique in the workspace.' },
    ),
    name: text({ min: 1, max: 100 }, { doc: 'Display name.' }),
    description: text({ max: 10_000 }, { doc: 'Markdown.', nullable: true }),
  },
});

export const TeamMember = model({
  name: 'TeamMember',
  table: 'team_members',
  doc: 'A member of a team.',
  audience: { kind: 'parent', field: 'teamId' },
  permissions: { insert: 'manage', update: 'service', delete: 'self_or_manage' },
  instead: { update: 'A TeamMember cannot be changed: delete it and insert another one' },
  unique: [['teamId', 'userId']],
  fields: {
    teamId: reference('Team', 'delete', { doc: 'The team.', immutable: true, inverse: 'members' }),
    userId: reference('User', 'keep', {
      doc: 'The person, who must be a member of the workspace.',
      immutable: true,
      inverse: 'teamMemberships',
    }),
  },
});
