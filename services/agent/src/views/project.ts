import { object, text, textOrNull } from './parts.ts';
import { NAMED } from './task.ts';

export const PROJECT_STATUSES = ['active', 'on_hold', 'done', 'dropped'] as const;

export const PROJECT = object(
  {
    id: text,
    key: text,
    name: text,
    description: { ...textOrNull, description: 'Markdown.' },
    status: { type: 'string', enum: PROJECT_STATUSES },
    isPrivate: { type: 'boolean', description: 'Only its members can see it.' },
    lead: { anyOf: [NAMED, { type: 'null' }] },
    team: { anyOf: [object({ id: text, key: text, name: text }, ['id', 'key', 'name']), { type: 'null' }] },
    startDate: textOrNull,
    targetDate: textOrNull,
    completedAt: textOrNull,
    archivedAt: textOrNull,
    workspaceId: text,
  },
  [
    'id',
    'key',
    'name',
    'description',
    'status',
    'isPrivate',
    'lead',
    'team',
    'startDate',
    'targetDate',
    'completedAt',
    'archivedAt',
    'workspaceId',
  ],
);

/** The fields of `PROJECT_FRAGMENT`, as they are shown. */
export interface ProjectNode {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: (typeof PROJECT_STATUSES)[number];
  readonly isPrivate: boolean;
  readonly lead: { readonly id: string; readonly name: string } | null;
  readonly team: { readonly id: string; readonly key: string; readonly name: string } | null;
  readonly startDate: string | null;
  readonly targetDate: string | null;
  readonly completedAt: string | null;
  readonly archivedAt: string | null;
  readonly workspaceId: string;
}

export const PROJECT_FRAGMENT = `fragment ProjectFields on Project {
  id key name description status isPrivate startDate targetDate completedAt archivedAt workspaceId
  lead { id name }
  team { id key name }
}`;
