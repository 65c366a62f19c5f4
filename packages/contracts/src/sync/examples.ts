import type { Examples } from '../contract.ts';
import { EXAMPLE_IDS } from '../example-ids.ts';

/*
 * The records of the description: one task, created, completed and read. The linters of the description check each
 * example against the schema made from the registry. Keeps meta.openapi.examples.
 */

const CREATED_AT = '2026-11-21T09:00:00.000Z';
const COMPLETED_AT = '2026-11-21T17:30:00.000Z';

export const taskExample = {
  id: EXAMPLE_IDS.task,
  workspaceId: EXAMPLE_IDS.workspace,
  number: 7,
  title: 'Write the release notes',
  description: null,
  projectId: null,
  teamId: null,
  assigneeId: null,
  creatorId: EXAMPLE_IDS.person,
  start: 'not_started',
  startBucket: 'today',
  startDate: null,
  todayIndexReferenceDate: null,
  deadlineAt: '2026-11-28',
  priority: 0,
  labelIds: [],
  sortOrder: '',
  repeatRule: null,
  repeatFrom: 'date',
  repeatAnchor: null,
  repeatIndex: null,
  repeatTemplateId: null,
  repeatNextDate: null,
  repeatWaiting: false,
  repeatError: null,
  completedAt: null,
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
  archivedAt: null,
} as const;

/** Entries of the log: the task is created, then completed. */
export const actionExamples = [
  {
    syncId: '43',
    modelName: 'Task',
    modelId: EXAMPLE_IDS.task,
    action: 'INSERT',
    data: taskExample,
    groupId: EXAMPLE_IDS.workspace,
    clientTxId: EXAMPLE_IDS.clientTx,
    clientId: 'laptop',
    createdAt: CREATED_AT,
  },
  {
    syncId: '44',
    modelName: 'Task',
    modelId: EXAMPLE_IDS.task,
    action: 'UPDATE',
    data: { completedAt: COMPLETED_AT, updatedAt: COMPLETED_AT },
    groupId: EXAMPLE_IDS.workspace,
    clientTxId: EXAMPLE_IDS.otherTx,
    clientId: 'laptop',
    createdAt: COMPLETED_AT,
  },
] as const;

export const mutateBodyExamples: Examples = {
  createTask: change('Create a task', {
    modelName: 'Task',
    modelId: EXAMPLE_IDS.task,
    action: 'INSERT',
    payload: { workspaceId: EXAMPLE_IDS.workspace, title: 'Write the release notes', deadlineAt: '2026-11-28' },
  }),
  completeTask: change('Complete a task', {
    modelName: 'Task',
    modelId: EXAMPLE_IDS.task,
    action: 'UPDATE',
    payload: { completedAt: COMPLETED_AT },
  }),
  trashTask: change('Move a task to the trash', {
    modelName: 'Task',
    modelId: EXAMPLE_IDS.task,
    action: 'ARCHIVE',
    payload: {},
  }),
  commentOnTask: change('Comment on a task', {
    modelName: 'Comment',
    modelId: EXAMPLE_IDS.comment,
    action: 'INSERT',
    payload: { workspaceId: EXAMPLE_IDS.workspace, taskId: EXAMPLE_IDS.task, body: 'The draft is ready.' },
  }),
  renameWorkspace: change('Rename a workspace', {
    modelName: 'Workspace',
    modelId: EXAMPLE_IDS.workspace,
    action: 'UPDATE',
    payload: { name: 'Acme Research' },
  }),
  changeRole: change('Change the role of a member', {
    modelName: 'WorkspaceMember',
    modelId: EXAMPLE_IDS.member,
    action: 'UPDATE',
    payload: { role: 'admin' },
  }),
  refused: change('Refused: the task does not exist', {
    modelName: 'Task',
    modelId: EXAMPLE_IDS.project,
    action: 'UPDATE',
    payload: { completedAt: COMPLETED_AT },
  }),
};

function change(summary: string, mutation: object): Examples[string] {
  const transaction = { clientTxId: EXAMPLE_IDS.clientTx, clientId: 'laptop', ...mutation };
  return { summary, value: { batchId: 'batch-1', transactions: [transaction] } };
}

export const mutateReplyExamples: Examples = {
  accepted: {
    summary: 'Accepted: the task was created',
    value: {
      ok: true,
      success: true,
      lastSyncId: '43',
      results: [{ clientTxId: EXAMPLE_IDS.clientTx, success: true, syncId: '43' }],
      mutations: [
        {
          clientTxId: EXAMPLE_IDS.clientTx,
          syncId: '43',
          modelName: 'Task',
          modelId: EXAMPLE_IDS.task,
          action: 'INSERT',
          record: taskExample,
        },
      ],
    },
  },
  refused: {
    summary: 'Refused, with status 200',
    value: {
      ok: true,
      success: false,
      lastSyncId: '0',
      results: [
        {
          clientTxId: EXAMPLE_IDS.clientTx,
          success: false,
          error: 'Task not found',
          code: 'not_found',
        },
      ],
      mutations: [],
    },
  },
};

export const batchBodyExamples: Examples = {
  tasksOfWorkspace: {
    summary: 'Tasks of a workspace',
    value: { requests: [{ modelName: 'Task', indexedKey: 'workspaceId', keyValue: EXAMPLE_IDS.workspace }] },
  },
  taskWithComments: {
    summary: 'One task and its comments',
    value: {
      requests: [
        { modelName: 'Task', indexedKey: 'id', keyValue: EXAMPLE_IDS.task },
        { modelName: 'Comment', indexedKey: 'taskId', keyValue: EXAMPLE_IDS.task },
      ],
    },
  },
};
