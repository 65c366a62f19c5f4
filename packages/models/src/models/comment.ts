import { reference, text, timestamp } from '../field.ts';
import { model } from '../model.ts';

export const Comment = model({
  name: 'Comment',
  table: 'comments',
  doc: 'A comment on a task.',
  audience: { kind: 'parent', field: 'taskId' },
  event: 'comment',
  permissions: { insert: 'anyone', update: 'author', delete: 'author_or_manage' },
  owners: ['authorId'],
  search: ['body'],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'The workspace of its task.', immutable: true }),
    taskId: reference('Task', 'delete', { doc: 'The task it belongs to.', immutable: true }),
    authorId: reference('User', 'keep', { doc: 'Who wrote it.', assigned: 'actor', immutable: true }),
    parentId: reference('Comment', 'delete', {
      doc: 'The comment it replies to.',
      nullable: true,
      immutable: true,
      inverse: 'replies',
    }),
    body: text({ min: 1, max: 50_000 }, { doc: 'Markdown.' }),
    editedAt: timestamp({ doc: 'When the body last changed.', nullable: true, assigned: 'server' }),
  },
});
