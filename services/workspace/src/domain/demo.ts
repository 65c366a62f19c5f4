import type { InternalMutation } from '@wts/contracts';
import { randomUUID } from 'node:crypto';

/** The content of the demo workspace: one of each kind, and few enough to delete by hand. */
export function demoContent(workspaceId: string, ownerId: string): InternalMutation[] {
  const insert = (modelName: string, payload: Record<string, unknown>): InternalMutation => ({
    modelName,
    modelId: randomUUID(),
    action: 'INSERT',
    payload: { workspaceId, ...payload },
  });
  const project = insert('Project', {
    key: 'TOUR',
    name: 'Take a tour',
    description: 'Change anything here and watch it arrive on every open socket.',
    leadId: ownerId,
  });
  const label = insert('Label', { name: 'first steps', color: '#2563eb' });
  const task = (title: string, more: Record<string, unknown> = {}): InternalMutation =>
    insert('Task', { title, projectId: project.modelId, labelIds: [label.modelId], assigneeId: ownerId, ...more });
  const watch = task('Watch a change arrive live', {
    description:
      'Run `npm run watch` in a second terminal, then create a task with the curl line that `npm start` prints.',
    start: 'started',
    priority: 2,
  });
  return [
    project,
    label,
    task('Create a task over HTTP', { sortOrder: 'a0' }),
    watch,
    insert('TaskChecklistItem', { taskId: watch.modelId, title: 'Run npm run watch', sortOrder: 'a0' }),
    insert('TaskChecklistItem', { taskId: watch.modelId, title: 'Create a task', sortOrder: 'a1' }),
    insert('Comment', { taskId: watch.modelId, body: 'This comment is an entry of the same log.' }),
    task('Read the README of each folder', { start: 'someday', sortOrder: 'a2' }),
  ];
}
