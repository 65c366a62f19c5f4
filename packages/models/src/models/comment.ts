import { reference, text, timestamp } from '../field.ts';
import { model } from '../model.ts';

export const Comment = model({
  name: 'Comment',
  table: 'comments',
  doc: 'What somebody says about a task.',
  audience: { kind: 'parent', field: 'taskId' },
  event: 'comment',
  permissions: { insert: 'anyone', update: 'author', delete: 'author_or_manage' },
  owners: ['authorId'],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'Home; the workspace of its task.', immutable: true }),
    taskId: reference('Task', 'delete', { doc: 'Its task.', immutable: true }),
    authorId: reference('User', 'keep', { doc: 'Who wrote it.', assigned: 'actor', immutable: true }),
    parentId: reference('Comment', 'delete', { doc: 'The comment it answers.', nullable: true, immutable: true }),
    body: text({ min: 1, max: 50_000 }, { doc: 'Markdown.' }),
    editedAt: timestamp({ doc: 'When the body last changed.', nullable: true, assigned: 'server' }),
  },
});
