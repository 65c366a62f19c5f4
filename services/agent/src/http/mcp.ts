import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { requireScope, type ProtectedResource } from '@wts/access';
import { mcpApi, type Principal } from '@wts/contracts';
import { noteRequest } from '@wts/service-kit/http';
import { mountStream } from '@wts/service-kit/routes';
import type { IRouter, Request as HttpRequest, Response as HttpResponse } from 'express';
import type { Caller } from '../graph/graph.ts';
import { TOOL_BY_NAME } from '../tools/index.ts';

/** `POST /mcp`: one message of the protocol, on behalf of the caller that the gateway names. */
export function mountMcp(router: IRouter, handler: McpHttpHandler, resource: ProtectedResource): void {
  mountStream(router, mcpApi.call, async ({ req, res, body, principal, requestId, signal }) => {
    const message = body as Message;
    noteRequest(req, { details: { mcp: methodOf(message), tool: toolOf(message)?.name }, failure: null });
    requireToolScope(message, principal, resource);
    const caller: Caller = { principal, requestId, signal };
    const { id, scopes } = { id: principal.credential.id, scopes: [...principal.scopes] };
    const response = await handler.fetch(new Request(AGENT_URL, { method: 'POST', headers: headersOf(req), signal }), {
      authInfo: { token: '', clientId: id, scopes, extra: { caller } },
      parsedBody: body,
    });
    await send(response, res);
  });
}

/** The library routes by the message, never by the address. */
const AGENT_URL = 'http://agent/mcp';

interface Message {
  readonly method?: unknown;
  readonly params?: { readonly name?: unknown };
}

/** Methods of the protocol are short; anything else is not logged. */
function methodOf({ method }: Message): string | undefined {
  return typeof method === 'string' && /^[a-z]+(?:\/[a-z_]+)*$/i.test(method) ? method.slice(0, 50) : undefined;
}

function toolOf({ method, params }: Message): ReturnType<(typeof TOOL_BY_NAME)['get']> {
  return method === 'tools/call' ? TOOL_BY_NAME.get(String(params?.name)) : undefined;
}

/**
 * A token that lacks the scope of a tool is refused with a challenge, so that the client asks the person for more (RFC 6750
 * section 3.1). Other credentials cannot get more: for them the tool refuses, in words for the model.
 * Keeps agent.tools.step-up.
 */
function requireToolScope(message: Message, principal: Principal, resource: ProtectedResource): void {
  const tool = toolOf(message);
  if (tool === undefined || tool.effect === 'reads' || principal.credential.kind !== 'oauth') return;
  requireScope(principal, 'write', resource);
}

/** The headers that the protocol uses; the library compares them with the message. */
const HEADER_NAMES = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

function headersOf({ headers }: HttpRequest): Headers {
  const given = HEADER_NAMES.map((name): [string, unknown] => [name, headers[name]]);
  return new Headers(given.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

async function send(response: Response, res: HttpResponse): Promise<void> {
  res.writeHead(response.status, { 'cache-control': 'no-store', ...Object.fromEntries(response.headers) });
  if (response.body === null) {
    res.end();
    return;
  }
  try {
    await pipeline(Readable.fromWeb(response.body), res);
  } catch (error) {
    // The client has disconnected, which cancels the call.
    if (!res.destroyed) throw error;
  }
}
