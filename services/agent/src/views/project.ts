import { Project, type RecordOf } from '@wts/models';
import { viewOf, type Keyed, type Named } from './fields.ts';

/** What a model of language does not need. */
const HIDDEN = ['creatorId', 'sortOrder', 'createdAt', 'updatedAt'] as const;

const { schema, selection } = viewOf<ProjectNode>(Project, {
  hidden: HIDDEN,
  texts: { description: 'Markdown.', isPrivate: 'Only its members can see it.' },
});

/** The fields of `PROJECT_FRAGMENT`, as they are shown. */
export interface ProjectNode extends Omit<RecordOf<typeof Project>, (typeof HIDDEN)[number] | 'leadId' | 'teamId'> {
  readonly lead: Named | null;
  readonly team: Keyed | null;
}

export const PROJECT = schema;
export const PROJECT_FRAGMENT = `fragment ProjectFields on Project { ${selection.join(' ')} }`;
