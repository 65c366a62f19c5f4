/** `npm run listen`: a webhook endpoint on this machine that verifies and prints every delivery. */
import { verifyWebhook, WebhookSignatureError } from '@wts/client';
import type { WebhookEndpoint, WebhookEvent } from '@wts/contracts';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readOptions } from './command-options.ts';
import { PATHS, STACK_FILE } from './layout.ts';
import { isFree } from './processes/ports.ts';
import { UserError } from './user-error.ts';
import { readStackFile, type StackFile } from './stack-file.ts';
import { runTask } from './task.ts';
import { openLocalWebhooks } from './webhooks.ts';

const USAGE = `npm run listen [-- options]

  --status N        answer every delivery with this HTTP status; default 204
  --types A,B       receive these event types only; default every type
  --port N          listen on this port of 127.0.0.1; default a free one
  --workspace ID    the workspace whose events are received; default the demo workspace`;

/** Marks the endpoints of this command, so that the next one can delete those that a killed one left behind. */
const DESCRIPTION = 'npm run listen';

interface Options {
  readonly status: number;
  readonly types: readonly string[];
  readonly port: number;
  readonly workspaceId: string | undefined;
}

await runTask(async (cleanUp) => {
  const options = checkedOptions();
  if (options === null) return 0;
  const stack = readStackFile();
  if (stack === null)
    throw new UserError(
      `The service is not running (${STACK_FILE} not found). Start it in another terminal: npm start`,
    );
  const { receiver } = await openLocalWebhooks(PATHS.webhooks);
  const workspaceId = options.workspaceId ?? stack.workspaceId;
  const attempts = new Map<string, number>();
  let secret = '';
  const server = createServer({ ...receiver }, (request, response) => {
    void answer(request, response, { secret, status: options.status, attempts });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new UserError(`Port ${options.port} cannot be used: ${error.message}`)));
    server.listen(options.port, '127.0.0.1', resolve);
  });
  cleanUp.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await deleteLeftovers(stack, workspaceId);
  const body = { url, workspaceId, description: DESCRIPTION, eventTypes: options.types };
  const made = await call<{ endpoint: WebhookEndpoint; secret: string }>(stack, 'POST', '/api/webhooks', body);
  ({ secret } = made);
  cleanUp.defer(async () => {
    await call(stack, 'DELETE', `/api/webhooks/${made.endpoint.id}`).catch((error: unknown) => {
      console.error(`The endpoint ${made.endpoint.id} could not be deleted: ${(error as Error).message}`);
    });
  });
  console.log(`Endpoint ${made.endpoint.id} receives ${options.types.join(', ') || 'every event type'} at ${url}`);
  console.log(`It answers ${options.status}. Press Ctrl-C to delete it and stop.\n`);
  return 'until stopped';
});

function checkedOptions(): Options | null {
  const values = readOptions(USAGE, {
    status: { type: 'string', default: '204' },
    types: { type: 'string', default: '' },
    port: { type: 'string', default: '0' },
    workspace: { type: 'string' },
  });
  if (values === null) return null;
  const [status, port] = [Number(values.status), Number(values.port)];
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new UserError('--status takes an HTTP status from 200 to 599.');
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UserError('--port takes a number up to 65535.');
  return { status, port, types: values.types.split(',').filter(Boolean), workspaceId: values.workspace };
}

interface Answering {
  readonly secret: string;
  readonly status: number;
  /** Deliveries seen before, by event. */
  readonly attempts: Map<string, number>;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, status, attempts }: Answering,
): Promise<void> {
  try {
    const event = await verifyWebhook(secret, request.headers, await textOf(request));
    const attempt = (attempts.get(event.id) ?? 0) + 1;
    attempts.set(event.id, attempt);
    print(event, attempt, status);
    response.writeHead(status).end();
  } catch (error) {
    const reason = error instanceof WebhookSignatureError ? error.message : 'The request ended early, or is no event.';
    console.log(`Refused with 400: ${reason}`);
    response.writeHead(400).end();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function print({ type, syncActionId, data }: WebhookEvent, attempt: number, status: number): void {
  const { id, title, name, body } = data.object;
  const label = [title, name, body].find((text) => typeof text === 'string') ?? id;
  const changes = data.changes.length === 0 ? '' : `  changed ${data.changes.join(', ')}`;
  const action = (syncActionId ?? '-').padStart(6);
  console.log(
    `${action}  ${type.padEnd(18)} ${JSON.stringify(label)}${changes}  (attempt ${attempt}, verified, answered ${status})`,
  );
}

/** Endpoints of this command whose receiver is gone: a killed one could not delete its own. */
async function deleteLeftovers(stack: StackFile, workspaceId: string): Promise<void> {
  const path = `/api/webhooks?workspaceId=${encodeURIComponent(workspaceId)}`;
  const { endpoints } = await call<{ endpoints: WebhookEndpoint[] }>(stack, 'GET', path);
  for (const { id, url, description } of endpoints) {
    if (description === DESCRIPTION && (await isFree(Number(new URL(url).port))))
      await call(stack, 'DELETE', `/api/webhooks/${id}`);
  }
}

async function call<T>(stack: StackFile, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${stack.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const reply = (await response.json()) as T & { error?: string; message?: string };
  if (!response.ok)
    throw new UserError(`${method} ${path} was answered ${response.status}: ${reply.message ?? reply.error}`);
  return reply;
}
