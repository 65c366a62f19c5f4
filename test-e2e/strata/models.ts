import type { SchemaDefinition } from '@stratasync/core';

type Fields = NonNullable<SchemaDefinition['models'][string]['fields']>;

/** A list is an observable one in memory, which the local database cannot store. */
const LIST = {
  serialize: (list: unknown) => (Array.isArray(list) ? list.map((item: unknown) => item) : list),
  deserialize: (list: unknown) => list,
};

/** Columns of a model as the published client wants them: `?` may be null, `#` is an index of the local database. */
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
 * Our models as an application declares them to the published client. All of them: a group that is gained is loaded
 * without naming models, and the storage of the client refuses rows of models it was not told of. `groupKey` names the
 * field by which the client drops what belongs to a group it lost.
 *
 * Comments and checklists are loaded when they are wanted, everything else at the start.
 */
export const SCHEMA: SchemaDefinition = {
  models: {
    Workspace: { groupKey: 'id', fields: fields(`${STAMPS} name urlKey logoUrl?`) },
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
           sortOrder repeatRule? repeatTemplateId? completedAt?`,
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
