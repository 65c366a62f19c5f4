import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { ROOT } from './layout.ts';
import type { DemoWorkspace } from './secrets.ts';
import type { Stack } from './stack.ts';

interface StartInfo {
  readonly seconds: number;
  readonly remarks: readonly string[];
  readonly logs: string;
  /** Null when SMTP_URL names another server. */
  readonly mailUrl: string | null;
  /** Of the page with figures and traces; null without it. */
  readonly observeUrl: string | null;
}

type Shown = Pick<Stack, 'baseUrl' | 'authUrl' | 'metricsUrlOf'>;

/** The text after a start, with the most important information first. */
export function welcome(
  [stack, ...others]: readonly [Shown, ...Shown[]],
  demo: DemoWorkspace,
  { seconds, remarks, logs, mailUrl, observeUrl }: StartInfo,
): string {
  const { baseUrl, authUrl } = stack;
  return [
    '',
    ...remarks.map((remark) => `  ${remark}`),
    `  Ready in ${seconds.toFixed(1)} s.`,
    '',
    `  API             ${baseUrl}`,
    ...others.map((cell) => `  Second cell     ${cell.baseUrl}`),
    `  Reference       ${baseUrl}/docs`,
    `  GraphiQL        ${baseUrl}/graphql`,
    `  Webhooks        ${baseUrl}/console`,
    `  Sign-in         ${authUrl}`,
    `                  ${demo.person.email}, password ${demo.person.password}`,
    `  Mail            ${mailUrl ?? 'sent by the server at SMTP_URL'}`,
    ...(observeUrl === null ? [] : [`  Observe         ${observeUrl}`]),
    `  Agents (MCP)    ${authUrl}/mcp`,
    `  API key         ${demo.apiKey}`,
    `  Read-only key   ${demo.readOnlyApiKey}`,
    `  Workspace       ${demo.workspaceId}`,
    `  Logs            ${relative(ROOT, logs)}/`,
    `  Metrics         ${stack.metricsUrlOf('sync')} (sync); the others: .local/stack.json`,
    '',
    '  Work with tasks, in a second terminal:',
    '',
    '    npm run wts -- add "My first task tomorrow"',
    '    npm run wts -- --help',
    '',
    '  Watch changes live, in another one:',
    '',
    '    npm run watch',
    '',
    '  Receive webhooks on this machine, in a third one:',
    '',
    '    npm run listen',
    '',
    '  Create a task over HTTP:',
    '',
    ...createTask(baseUrl, demo).map((line) => `    ${line}`),
    '',
    '  For development only: webhooks may go to 127.0.0.1, and a certificate authority in .local is trusted for them.',
    '  Press Ctrl-C to stop everything. npm start -- --fresh deletes all local data.',
  ].join('\n');
}

/** A curl command with new ids. Running it twice creates one task, because the second call has the same transaction. */
function createTask(baseUrl: string, { apiKey, workspaceId }: DemoWorkspace): string[] {
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
