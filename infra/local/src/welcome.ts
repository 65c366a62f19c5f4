import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { ROOT } from './layout.ts';
import type { Demo } from './secrets.ts';
import type { Stack } from './stack.ts';

interface Circumstances {
  readonly seconds: number;
  readonly remarks: readonly string[];
  readonly logs: string;
}

/** What somebody who has just started it for the first time wants to know, in the order of wanting. */
export function welcome(
  { baseUrl, authUrl }: Pick<Stack, 'baseUrl' | 'authUrl'>,
  demo: Demo,
  { seconds, remarks, logs }: Circumstances,
): string {
  return [
    '',
    ...remarks.map((remark) => `  ${remark}`),
    `  Ready in ${seconds.toFixed(1)} s.`,
    '',
    `  API             ${baseUrl}`,
    `  Reference       ${baseUrl}/docs`,
    `  Auth            ${authUrl}`,
    `  API key         ${demo.apiKey}`,
    `  Read-only key   ${demo.readOnlyApiKey}`,
    `  Workspace       ${demo.workspaceId}`,
    `  Logs            ${relative(ROOT, logs)}/`,
    '',
    '  Watch changes live, in a second terminal:',
    '',
    '    npm run watch',
    '',
    '  Create a task:',
    '',
    ...createTask(baseUrl, demo).map((line) => `    ${line}`),
    '',
    '  Press Ctrl-C to stop everything. npm start -- --fresh deletes all local data.',
  ].join('\n');
}

/** A line that works once pasted: its ids are new, so that pasting it again is the same change and not another. */
function createTask(baseUrl: string, { apiKey, workspaceId }: Demo): string[] {
  const body = {
    batchId: randomUUID(),
    transactions: [
      {
        clientTxId: randomUUID(),
        clientId: 'terminal',
        modelName: 'Task',
        modelId: randomUUID(),
        action: 'INSERT',
        payload: { workspaceId, title: 'My first task' },
      },
    ],
  };
  return [
    `curl -s ${baseUrl}/sync/mutate -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ];
}
