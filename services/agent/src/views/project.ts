import { typed } from '@wts/contracts';
import { Project } from '@wts/models';
import type { RecordOf } from '@wts/models';
import type { Keyed, Named } from './fields.ts';
import { viewOf } from './fields.ts';

/** What a model of language does not need. */
const HIDDEN = ['creatorId', 'sortOrder', 'createdAt', 'updatedAt'] as const;

const { properties, selection } = viewOf(Project, {
  hidden: HIDDEN,
  texts: { description: 'Markdown.', isPrivate: 'Only its members can see it.' },
});

export const PROJECT_STATUS = Project.fields.status.schema as { readonly enum: readonly ProjectNode['status'][] };

/** The fields of `PROJECT_FRAGMENT`, as they are shown. */
export interface ProjectNode extends Omit<RecordOf<typeof Project>, (typeof HIDDEN)[number] | 'leadId' | 'teamId'> {
  readonly lead: Named | null;
  readonly team: Keyed | null;
}

export const PROJECT = typed<ProjectNode>({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

export const PROJECT_FRAGMENT = `fragment ProjectFields on Project { ${selection.join(' ')} }`;
