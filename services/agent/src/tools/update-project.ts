import { CLIENT_ID, namesOfChanges, resultOf, type Payload } from '../graph/changes.ts';
import { document } from '../graph/graph.ts';
import { ToolError } from '../tool-error.ts';
import { PROJECT, PROJECT_FRAGMENT, type ProjectNode } from '../views/project.ts';
import { todayIn } from '@wts/models/words';
import { object, TIMEZONE, word, WORKSPACE } from '../views/parts.ts';
import { PROJECT_INPUT, projectInputOf } from './project-input.ts';
import { tool } from './tool.ts';

const WHERE = document<{ project: { readonly workspaceId: string } | null }, { id: string }>(
  'query AgentProjectWorkspace($id: ID!) { project(id: $id) { workspaceId } }',
);

const UPDATE = document<
  { payload: Payload & { readonly project: ProjectNode | null } },
  { id: string; input: object; clientTxId: string; clientId: string }
>(
  `mutation AgentUpdateProject($id: ID!, $input: ProjectUpdateInput!, $clientTxId: String!, $clientId: String!) {
  payload: projectUpdate(id: $id, input: $input, clientTxId: $clientTxId, clientId: $clientId) {
    project { ...ProjectFields }
    error { code message }
  }
}`,
  PROJECT_FRAGMENT,
);

export const updateProject = tool({
  name: 'update_project',
  title: 'Update a project',
  description:
    'Changes fields of a project; other fields stay as they are, and null removes a value. The status done completes it. Example: {"project": "WEB", "status": "on_hold", "targetDate": null}',
  effect: 'sets',
  input: {
    ...object({ project: word('Name, key or id.'), workspace: WORKSPACE, ...PROJECT_INPUT, timezone: TIMEZONE }, [
      'project',
    ]),
    minProperties: 2,
  },
  output: object({ project: PROJECT }),
  run: async (args, { graph, names, now }) => {
    const id = await names.project(args.project, await names.workspaceOrAll(args.workspace));
    const { project } = await graph.run(WHERE, { id });
    const workspace = (await names.workspaces()).find((one) => one.id === project?.workspaceId);
    if (workspace === undefined) throw new ToolError('not_found', 'This project does not exist any more.');
    const input = await projectInputOf(args, { names, workspace, today: todayIn(args.timezone, now()) });
    const clientTxId = namesOfChanges('update_project', undefined, [args])(0);
    const { payload } = await graph.run(UPDATE, { id, input, clientTxId, clientId: CLIENT_ID });
    return { project: resultOf(payload, payload.project) };
  },
});
