import { findTasks } from './find-tasks.ts';
import { listWorkspaces } from './list-workspaces.ts';
import type { Tool } from './tool.ts';
import { whoami } from './whoami.ts';

/** Every tool, in the order of `tools/list`, which is always the same: clients keep the list in the context of the model. */
export const TOOLS: readonly Tool[] = [whoami, listWorkspaces, findTasks];

export const TOOL_BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));
