import { document } from '../graph/graph.ts';
import { list, object, text, textOrNull } from '../views/parts.ts';
import { tool } from './tool.ts';
import { WORKSPACE_VIEW } from './list-workspaces.ts';

const VIEWER = document<{
  viewer: { id: string; name: string; email: string | null; username: string | null };
}>('query AgentViewer { viewer { id name email username } }');

export const whoami = tool({
  name: 'whoami',
  title: 'Who am I',
  description:
    'Shows the person on whose behalf you act, what this connection may do, and the workspaces of the person. Call it first when you need to know who "me" is or which workspaces there are. Example: {}',
  effect: 'reads',
  input: object({}),
  output: object({
    user: object({ id: text, name: text, email: textOrNull, username: textOrNull }),
    scopes: list(text),
    workspaces: list(WORKSPACE_VIEW),
  }),
  run: async (_args, { graph, names, principal }) => {
    const [{ viewer }, workspaces] = await Promise.all([graph.run(VIEWER, {}), names.workspaces()]);
    return { user: viewer, scopes: principal.scopes, workspaces };
  },
});
