import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { HEADERS, type Principal } from '@wts/contracts';
import { startService } from '@wts/service-kit/life';
import { minterFor, readerFor, serviceEnvironment } from '@wts/testkit';
import { agentService } from '../src/service.ts';

/** A request as the graph service gets it. */
export interface GraphRequest {
  readonly principal: Principal;
  readonly caller: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly code?: string;
    readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
    readonly error?: { readonly message: string };
  };
}

/** An agent service in front of a server that a test answers for, instead of the graph service. */
export interface TestAgent extends AsyncDisposable {
  readonly logs: string[];
  /** Answers the next requests; JSON, or nothing when it keeps the response. */
  answer: (request: GraphRequest) => object | undefined;
  send(message: object, options?: SendOptions): Promise<Reply>;
  callTool(name: string, args?: object, options?: SendOptions): Promise<Reply>;
}

interface SendOptions {
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export function person(scopes: Principal['scopes'], kind: Principal['credential']['kind'] = 'oauth'): Principal {
  return { userId: randomUUID(), scopes, credential: { kind, id: randomUUID() } };
}

export async function openTestAgent(): Promise<TestAgent> {
  await using opening = new AsyncDisposableStack();
  const readToken = readerFor('graph');
  const graph = createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve) => graph.listen(0, '127.0.0.1', resolve));
  opening.defer(() => {
    graph.closeAllConnections();
    graph.close();
  });
  const logs: string[] = [];
  const { port } = graph.address() as AddressInfo;
  const environment = serviceEnvironment('agent', {
    AUTH_URL: 'https://auth.example.com',
    GRAPH_SERVICE_URL: `http://127.0.0.1:${port}`,
  });
  const service = await startService(agentService, environment, { logTo: { write: (line) => void logs.push(line) } });
  opening.defer(() => service.close());
  const mint = minterFor('gateway', 'agent');

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { principal, caller } = readToken(String(req.headers[HEADERS.principal]));
    const { query, variables } = JSON.parse(await textOf(req)) as Pick<GraphRequest, 'query' | 'variables'>;
    const answer = agent.answer({ principal, caller, query, variables, req, res });
    if (answer !== undefined) res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  const owned = opening.move();
  const agent: TestAgent = {
    logs,
    answer: () => ({ data: {} }),
    send: async (message, { principal = person(['read', 'write']), signal } = {}) => {
      const { method, params } = message as { method: string; params?: { name?: string } };
      const reply = await fetch(`${service.url}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...(params?.name === undefined ? {} : { 'mcp-name': params.name }),
          [HEADERS.principal]: mint(principal),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message, params: { ...params, _meta: META } }),
        ...(signal === undefined ? {} : { signal }),
      });
      return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Reply['body'] };
    },
    callTool: (name, args = {}, options = {}) =>
      agent.send({ method: 'tools/call', params: { name, arguments: args } }, options),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return agent;
}
