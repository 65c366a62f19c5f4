import { object, text, textOrNull } from './parts.ts';
import { NAMED } from './task.ts';

export const COMMENT = object(
  {
    id: text,
    taskId: text,
    author: { anyOf: [NAMED, { type: 'null' }] },
    body: { ...text, description: 'Markdown.' },
    parentId: { ...textOrNull, description: 'The comment it replies to.' },
    createdAt: text,
    editedAt: textOrNull,
  },
  ['id', 'taskId', 'author', 'body', 'parentId', 'createdAt', 'editedAt'],
);

/** The fields of `COMMENT_FRAGMENT`, as they are shown. */
export interface CommentNode {
  readonly id: string;
  readonly taskId: string;
  readonly author: { readonly id: string; readonly name: string } | null;
  readonly body: string;
  readonly parentId: string | null;
  readonly createdAt: string;
  readonly editedAt: string | null;
}

export const COMMENT_FRAGMENT =
  'fragment CommentFields on Comment { id taskId author { id name } body parentId createdAt editedAt }';
