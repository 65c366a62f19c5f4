import { addComment } from './add-comment.ts';
import { archiveTasks, completeTasks, reopenTasks, restoreTasks } from './change-steps.ts';
import { createProject } from './create-project.ts';
import { createTasks } from './create-tasks.ts';
import { fetchRecord } from './fetch.ts';
import { findTasks } from './find-tasks.ts';
import { getTask } from './get-task.ts';
import { listComments } from './list-comments.ts';
import { listMembers } from './list-members.ts';
import { listProjects } from './list-projects.ts';
import { listLabels, listTeams } from './list-records.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { search } from './search.ts';
import type { Tool } from './tool.ts';
import { updateProject } from './update-project.ts';
import { updateTasks } from './update-tasks.ts';
import { whoami } from './whoami.ts';

/**
 * Every tool, in the order of `tools/list`, which is always the same: clients keep the list in the context of the model.
 * Keeps agent.tools.work.
 */
export const TOOLS: readonly Tool[] = [
  whoami,
  listWorkspaces,
  listTeams,
  listMembers,
  listLabels,
  listProjects,
  findTasks,
  getTask,
  createTasks,
  updateTasks,
  completeTasks,
  reopenTasks,
  archiveTasks,
  restoreTasks,
  createProject,
  updateProject,
  listComments,
  addComment,
  search,
  fetchRecord,
];

export const TOOL_BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));
