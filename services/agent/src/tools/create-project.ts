import { CLIENT_ID, namesOfChanges, resultOf, type Payload } from '../graph/changes.ts';
import { document } from '../graph/graph.ts';
import { PROJECT, PROJECT_FRAGMENT, type ProjectNode } from '../views/project.ts';
import { todayIn } from '@wts/models/words';
import { IDEMPOTENCY_KEY, object, TIMEZONE, WORKSPACE } from '../views/parts.ts';
import { PROJECT_INPUT, projectInputOf } from './project-input.ts';
import { tool } from './tool.ts';

const CREATE = document<
  { payload: Payload & { readonly project: ProjectNode | null } },
  { input: object; clientTxId: string; clientId: string }
>(
  `mutation AgentCreateProject($input: ProjectCreateInput!, $clientTxId: String!, $clientId: String!) {
  payload: projectCreate(input: $input, clientTxId: $clientTxId, clientId: $clientId) {
    project { ...ProjectFields }
    error { code message }
  }
}`,
  PROJECT_FRAGMENT,
);

export const createProject = tool({
  name: 'create_project',
  title: 'Create a project',
  description:
    'Creates a project. Its key is a short code, unique in the workspace. Example: {"workspace": "acme", "name": "Website relaunch", "key": "WEB", "lead": "me", "targetDate": "end of month", "idempotencyKey": "41d0"}',
  effect: 'adds',
  input: object(
    {
      workspace: WORKSPACE,
      ...PROJECT_INPUT,
      isPrivate: { type: 'boolean', description: 'Only its members see it. Default: false.' },
      timezone: TIMEZONE,
      idempotencyKey: IDEMPOTENCY_KEY,
    },
    ['name', 'key'],
  ),
  output: object({ project: PROJECT }),
  run: async ({ idempotencyKey, ...args }, { graph, names, now }) => {
    const workspace = await names.workspace(args.workspace);
    const resolved = await projectInputOf(args, { names, workspace, today: todayIn(args.timezone, now()) });
    const { isPrivate } = args;
    const input = { ...resolved, workspaceId: workspace.id, ...(isPrivate === undefined ? {} : { isPrivate }) };
    const clientTxId = namesOfChanges('create_project', idempotencyKey, [args])(0);
    const { payload } = await graph.run(CREATE, { input, clientTxId, clientId: CLIENT_ID });
    return { project: resultOf(payload, payload.project) };
  },
});
