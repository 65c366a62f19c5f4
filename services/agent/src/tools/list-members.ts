import { WorkspaceMember, type RecordOf, type User } from '@wts/models';
import { object, text, textOrNull } from '../views/parts.ts';
import { listRecords } from './list-records.ts';

interface MemberNode extends Pick<RecordOf<typeof WorkspaceMember>, 'userId' | 'role' | 'workspaceId'> {
  readonly user: Pick<RecordOf<typeof User>, 'name' | 'email' | 'username'> | null;
}

const MEMBER = { id: text, name: text, email: textOrNull, username: textOrNull, role: text, workspaceId: text };

export const listMembers = listRecords(WorkspaceMember, {
  description:
    'Lists the people of a workspace, or of all workspaces of the person, with their roles. Use it to find who can be assigned. Example: {"workspace": "acme"}',
  orderBy: 'createdAt: ASC',
  selection: ['userId', 'role', 'workspaceId', 'user { name email username }'],
  schema: object(MEMBER),
  shown: ({ userId: id, role, workspaceId, user }: MemberNode) => ({
    id,
    ...(user ?? { name: '', email: null, username: null }),
    role,
    workspaceId,
  }),
});
