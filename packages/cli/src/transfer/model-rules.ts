import type { ModelName } from '@wts/client';

/** A record of any model, as a line of an export has it. */
export type ExportRecord = Readonly<Record<string, unknown>> & {
  readonly __class: string;
  readonly id: string;
  readonly createdAt: string;
  readonly archivedAt?: string | null;
};

/** What an import has to know of a model. A test compares it with the declarations of the models, which are not published. */
export interface ModelRule {
  /** Fields with an id, or ids, of other records of the export. */
  readonly references: Readonly<Record<string, ModelName>>;
  /** Fields with a person whom an import chooses. */
  readonly people: readonly string[];
  /** Fields that the server sets in a new record, besides those of every record. */
  readonly serverSets: readonly string[];
  /** The fields that make a record unique instead of its id, because the server creates some of them itself. */
  readonly key?: readonly [string, string];
}

/** Of every record. An import restores whether a record is archived, and the server sets when. */
export const SET_IN_EVERY_RECORD = ['createdAt', 'updatedAt', 'archivedAt'] as const;

/** What an import creates, in its order: no record refers to one of a later model. */
export const IMPORTED = {
  Team: { references: {}, people: [], serverSets: [] },
  TeamMember: { references: { teamId: 'Team' }, people: ['userId'], serverSets: [], key: ['teamId', 'userId'] },
  Project: { references: { teamId: 'Team' }, people: ['leadId'], serverSets: ['creatorId'] },
  ProjectMember: {
    references: { projectId: 'Project' },
    people: ['userId'],
    serverSets: [],
    key: ['projectId', 'userId'],
  },
  Label: { references: { teamId: 'Team' }, people: [], serverSets: [] },
  Task: {
    references: { projectId: 'Project', teamId: 'Team', labelIds: 'Label' },
    people: ['assigneeId'],
    serverSets: [
      'number',
      'creatorId',
      'repeatAnchor',
      'repeatIndex',
      'repeatTemplateId',
      'repeatNextDate',
      'repeatWaiting',
      'repeatError',
    ],
  },
  TaskChecklistItem: { references: { taskId: 'Task' }, people: [], serverSets: [] },
  Comment: { references: { taskId: 'Task', parentId: 'Comment' }, people: [], serverSets: ['authorId', 'editedAt'] },
} as const satisfies Partial<Record<ModelName, ModelRule>>;

export type ImportedModel = keyof typeof IMPORTED;

export const IMPORTED_MODELS = Object.keys(IMPORTED) as readonly ImportedModel[];

export function ruleOf(model: ImportedModel): ModelRule {
  return IMPORTED[model];
}

export function isImported(model: string): model is ImportedModel {
  return Object.hasOwn(IMPORTED, model);
}

/** All fields with a person, also those that an import cannot set. */
const PERSON_FIELDS = ['userId', 'leadId', 'creatorId', 'assigneeId', 'authorId'] as const;

export function peopleIn(record: ExportRecord): readonly string[] {
  return PERSON_FIELDS.map((name) => record[name]).filter((id) => typeof id === 'string');
}

/**
 * The place of a record in its file. Tasks are in the order of their numbers, so that an import into a new workspace numbers them alike;
 * others in that of their creation, so that what is new in a later export is at the end.
 */
export function orderOf(record: ExportRecord): string {
  if (record.__class === 'Task') return String(record['number']).padStart(10, '0');
  return `${record.createdAt} ${record.id}`;
}
