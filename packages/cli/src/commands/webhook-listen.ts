import { verifyWebhook, WebhookSignatureError, type WebhookEvent } from '@wts/client';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { safeJson } from '../output/safe-text.ts';
import { readTextFile } from './texts.ts';
import { eventTypesOf } from './webhook.ts';

/** Marks the endpoints of this command, so that the next one deletes those of a process that could not delete its own. */
const DESCRIPTION = 'wts webhook listen';
const PORTS = { min: 1, max: 65_535 } as const;
const STATUSES = { min: 200, max: 599 } as const;
/** The service waits ten seconds for an answer. */
const FORWARD_MS = 9_000;
const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Of the connection alone: they mean nothing behind this program. */
const NOT_FORWARDED = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']);

interface Listening {
  readonly call: Call;
  readonly secret: string;
  readonly forwardTo: string | undefined;
  readonly status: number;
  /** Deliveries seen before, by event. */
  readonly attempts: Map<string, number>;
}

/**
 * Makes an endpoint for as long as this runs, verifies and prints each delivery, and forwards it, bytes and headers unchanged, to a
 * program on this machine, whose answer is that of the delivery: so the retries of the service are real.
 */
export async function listen(call: Call): Promise<void> {
  const { options, output, session, signal } = call;
  const forwardTo = options.text('forwardTo');
  if (forwardTo !== undefined && (!URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol)))
    throw usageFault(
      `--forward-to takes an address such as http://localhost:3000/hooks, not ${JSON.stringify(forwardTo)}.`,
    );
  const { api, workspace } = await session();
  const { id: workspaceId } = await workspace();
  await using receiver = await openReceiver(call);
  const { server, url } = receiver;
  await deleteLeftovers(api, workspaceId, url);
  const eventTypes = eventTypesOf(options.list('event'));
  const wanted = { url, workspaceId, description: DESCRIPTION, eventTypes };
  const { endpoint, secret } = await api.createWebhookEndpoint(wanted);
  await using _deletion: AsyncDisposable = {
    [Symbol.asyncDispose]: async () => {
      await api.deleteWebhookEndpoint({ id: endpoint.id }).catch((error: unknown) => {
        return output.warn(`The endpoint ${endpoint.id} could not be deleted: ${(error as Error).message}`);
      });
    },
  };
  const listening: Listening = {
    call,
    secret,
    forwardTo,
    status: options.number('status', STATUSES) ?? 204,
    attempts: new Map(),
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void answer(listening, request, response).catch(() => response.destroy());
  });
  const answers = forwardTo === undefined ? `It answers ${listening.status}` : `It answers as ${forwardTo} does`;
  await output.note(
    `Endpoint ${endpoint.id} receives ${endpoint.eventTypes.join(', ') || 'every event type'} at ${url}`,
  );
  if (forwardTo !== undefined) await output.note(`Its secret is ${secret}`);
  await output.note(`${answers}. Press Ctrl-C to delete it and stop.\n`);
  if (!signal.aborted) await once(signal, 'abort');
}

interface Receiver extends AsyncDisposable {
  readonly server: Server;
  readonly url: string;
}

/**
 * Of the system that `npm start` runs, and with `--cert`: https on this machine. Else the service reaches this machine by an address of
 * a tunnel, which ends its https there.
 */
async function openReceiver({ options, io }: Call): Promise<Receiver> {
  const port = options.number('port', PORTS) ?? 0;
  const publicUrl = options.text('url');
  const folder = io.env['WTS_LOCAL_WEBHOOKS'];
  const local = (file: string): string | undefined => (folder === undefined ? undefined : join(folder, file));
  const [cert, key] = [options.text('cert') ?? local('receiver.pem'), options.text('key') ?? local('receiver-key.pem')];
  const isTunnel = publicUrl !== undefined && options.text('cert') === undefined;
  if (!isTunnel && (cert === undefined || key === undefined))
    throw usageFault(
      'The service delivers by https to a public address.',
      'Start a tunnel to a port of this machine, then: wts webhook listen --port 8080 --url https://<name of the tunnel>',
    );
  const server = isTunnel
    ? createHttpServer()
    : (await import('node:https')).createServer({
        cert: await readTextFile(cert ?? ''),
        key: await readTextFile(key ?? ''),
      });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((cause: unknown) => {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new CliFault('failed', `Port ${port} cannot be used (${code}).`, { cause });
  });
  const url = publicUrl ?? `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
  };
  return { server, url, [Symbol.asyncDispose]: close };
}

/** Those whose port is free or the own one: the process that made them is gone, and could not delete them. */
async function deleteLeftovers(
  api: Awaited<ReturnType<Call['session']>>['api'],
  workspaceId: string,
  url: string,
): Promise<void> {
  const { endpoints } = await api.listWebhookEndpoints({ workspaceId });
  for (const one of endpoints.filter(({ description }) => description === DESCRIPTION)) {
    const { hostname, port } = new URL(one.url);
    const isLeft = one.url === url || (hostname === '127.0.0.1' && (await isFree(Number(port))));
    if (isLeft) await api.deleteWebhookEndpoint({ id: one.id });
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createHttpServer().listen(port, '127.0.0.1');
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  return isListening;
}

async function answer(listening: Listening, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { call, secret, attempts } = listening;
  const body = await bytesOf(request);
  let event: WebhookEvent;
  try {
    event = await verifyWebhook(secret, request.headers, body);
  } catch (error) {
    const reason = error instanceof WebhookSignatureError ? error.message : 'It is no event.';
    await call.output.note(`Refused a request with 400: ${reason}`);
    response.writeHead(400).end();
    return;
  }
  const attempt = (attempts.get(event.id) ?? 0) + 1;
  attempts.set(event.id, attempt);
  const status = await forward(listening, request, body);
  response.writeHead(status).end();
  if (call.output.isJson) return call.output.value({ attempt, status, event });
  await call.output.text(lineOf(event, attempt, status));
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > BODY_BYTES_MAX) throw new Error('the body is too large');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** The status of the program behind; 502 where it gives none, so that the service tries again. */
async function forward(
  { call, forwardTo, status }: Listening,
  request: IncomingMessage,
  body: Buffer,
): Promise<number> {
  if (forwardTo === undefined) return status;
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    NOT_FORWARDED.has(name) || typeof value !== 'string' ? [] : [[name, value]],
  );
  const sent = { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(FORWARD_MS) } as const;
  try {
    const { status: answered, body: content } = await fetch(forwardTo, sent);
    await content?.cancel();
    return answered;
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    await call.output.note(`${forwardTo} gave no answer (${cause?.code ?? (error as Error).name}).`);
    return 502;
  }
}

function lineOf({ type, syncActionId, data }: WebhookEvent, attempt: number, status: number): string {
  const { id, title, name, body } = data.object as Readonly<Record<string, unknown>>;
  const label = [title, name, body].find((text) => typeof text === 'string') ?? id;
  const changes = data.changes.length === 0 ? '' : `  changed ${data.changes.join(', ')}`;
  const position = (syncActionId ?? '-').padStart(6);
  return `${position}  ${type.padEnd(18)} ${safeJson(label)}${changes}  (attempt ${attempt}, verified, answered ${status})\n`;
}
