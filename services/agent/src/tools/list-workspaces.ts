import { list, object, text, textOrNull } from '../views/parts.ts';
import { tool } from './tool.ts';

export const WORKSPACE_VIEW = object({ id: text, name: text, urlKey: text, role: textOrNull });

export const listWorkspaces = tool({
  name: 'list_workspaces',
  title: 'List workspaces',
  description:
    'Lists the workspaces of the person, with the role in each. Other tools take the name, urlKey or id of a workspace. Example: {}',
  effect: 'reads',
  input: object({}),
  output: object({ workspaces: list(WORKSPACE_VIEW) }),
  run: async (_args, { names }) => ({ workspaces: await names.workspaces() }),
});
