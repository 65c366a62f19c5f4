import { ROLES } from '@wts/contracts';
import { choice, reference } from '../field.ts';
import { model } from '../model.ts';

export const WorkspaceMember = model({
  name: 'WorkspaceMember',
  table: 'workspace_members',
  plural: 'members',
  doc: 'A member of a workspace, with a role. Created by creating or joining a workspace, not by `INSERT`.',
  audience: { kind: 'membership', field: 'workspaceId' },
  permissions: { insert: 'service', update: 'manage', delete: 'self_or_manage' },
  instead: {
    insert: 'A WorkspaceMember is created when the person joins with the code of an invitation, not by INSERT',
  },
  scope: 'admin',
  unique: [['workspaceId', 'userId']],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'The workspace.', immutable: true }),
    userId: reference('User', 'keep', { doc: 'The person.', immutable: true, inverse: 'memberships' }),
    role: choice(ROLES, { doc: 'Role; decides what the person may do in the workspace.' }),
  },
});
