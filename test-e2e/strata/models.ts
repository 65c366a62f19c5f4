import type { SchemaDefinition } from '@stratasync/core';

type Fields = NonNullable<SchemaDefinition['models'][string]['fields']>;

/** Lists in memory are observables, which the local database cannot store. */
const LIST = {
  serialize: (list: unknown) => (Array.isArray(list) ? list.map((item: unknown) => item) : list),
  deserialize: (list: unknown) => list,
};

/** Columns in the format of the published client: `?` may be null, `#` has an index in the local database. */
function fields(names: string): Fields {
  return Object.fromEntries(
    names
      .split(/\s+/)
      .map((name) => [
        name.replace(/[?#]+$/, ''),
        { ...(name.includes('?') ? { nullable: true } : {}), ...(name.includes('#') ? { indexed: true } : {}) },
      ]),
  );
}

const STAMPS = 'id createdAt updatedAt';
const ARCHIVABLE = `${STAMPS} archivedAt?`;

/**
 * Our models as an application declares them to the published client. It must declare all of them, because the client loads a
 * gained group with all models, and its storage refuses rows of unknown models. `groupKey` is the field by which the client
 * drops records of a lost group.
 *
 * Comments and checklists are loaded on demand, everything else at the start.
 */
export const SCHEMA: SchemaDefinition = {
  models: {
    Workspace: { groupKey: 'id', fields: fields(`${ARCHIVABLE} name urlKey logoUrl? timeZone trashRetentionDays?`) },
    User: { fields: fields(`${STAMPS} name email? avatarUrl? username?`) },
    WorkspaceMember: { groupKey: 'workspaceId', fields: fields(`${STAMPS} workspaceId userId# role`) },
    Team: { groupKey: 'workspaceId', fields: fields(`${ARCHIVABLE} workspaceId key name description?`) },
    TeamMember: { fields: fields(`${STAMPS} teamId# userId`) },
    Project: {
      groupKey: 'workspaceId',
      fields: fields(
        `${ARCHIVABLE} workspaceId teamId? key name description? status isPrivate leadId? creatorId
         startDate? targetDate? completedAt? sortOrder`,
      ),
    },
    ProjectMember: { groupKey: 'projectId', fields: fields(`${STAMPS} projectId userId`) },
    Label: { groupKey: 'workspaceId', fields: fields(`${ARCHIVABLE} workspaceId teamId? name color?`) },
    Task: {
      groupKey: 'workspaceId',
      fields: {
        ...fields(
          `${ARCHIVABLE} workspaceId number title description? projectId?# teamId? assigneeId? creatorId
           start startBucket startDate? todayIndexReferenceDate? deadlineAt? priority
           sortOrder repeatRule? repeatFrom repeatAnchor? repeatIndex? repeatTemplateId?
           repeatNextDate? repeatWaiting repeatError? completedAt?`,
        ),
        labelIds: { serializer: LIST },
      },
    },
    TaskChecklistItem: {
      loadStrategy: 'lazy',
      groupKey: 'workspaceId',
      fields: fields(`${STAMPS} workspaceId taskId# title completedAt? sortOrder`),
    },
    Comment: {
      loadStrategy: 'partial',
      groupKey: 'workspaceId',
      fields: fields(`${STAMPS} workspaceId taskId# authorId parentId? body editedAt?`),
    },
  },
};
