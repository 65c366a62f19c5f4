import { ROLES } from '@wts/contracts';
import { choice, reference } from '../field.ts';
import { model } from '../model.ts';

export const WorkspaceMember = model({
  name: 'WorkspaceMember',
  table: 'workspace_members',
  doc: 'A person in a workspace, with their role. Made by creating or joining a workspace, never by a client.',
  audience: { kind: 'membership', field: 'workspaceId' },
  permissions: { insert: 'service', update: 'manage', delete: 'self_or_manage' },
  unique: [['workspaceId', 'userId']],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'Of which workspace.', immutable: true }),
    userId: reference('User', 'keep', { doc: 'Who.', immutable: true }),
    role: choice(ROLES, { doc: 'What they may do.' }),
  },
});
