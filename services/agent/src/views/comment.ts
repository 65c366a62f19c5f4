import { Comment, type RecordOf } from '@wts/models';
import { viewOf, type Named } from './fields.ts';

const HIDDEN = ['workspaceId', 'updatedAt', 'archivedAt'] as const;

const { schema, selection } = viewOf<CommentNode>(Comment, {
  hidden: HIDDEN,
  texts: { body: 'Markdown.', parentId: 'The comment it replies to.' },
});

/** The fields of `COMMENT_FRAGMENT`, as they are shown. */
export interface CommentNode extends Omit<RecordOf<typeof Comment>, (typeof HIDDEN)[number] | 'authorId'> {
  readonly author: Named | null;
}

export const COMMENT = schema;
export const COMMENT_FRAGMENT = `fragment CommentFields on Comment { ${selection.join(' ')} }`;
