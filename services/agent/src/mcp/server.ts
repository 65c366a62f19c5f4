import type { McpHttpHandler } from '@modelcontextprotocol/server';
import {
  createMcpHandler,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { API_VERSION } from '@wts/contracts';
import type { Caller, Graph } from '../graph/graph.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { refusalOf } from '../tool-error.ts';
import { TOOL_BY_NAME, TOOLS } from '../tools/index.ts';
import { listed } from '../tools/tool.ts';
import { callTool, mayUse, withGraph, type ToolParts } from './call-tool.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { LISTED_PROMPTS, promptText } from './prompts.ts';
import { listResources, readResource, RESOURCE_TEMPLATES } from './resources.ts';

const IDENTITY = { name: 'workspace-task-service', title: 'Workspace Task Service', version: `${API_VERSION}.0.0` };

/** Lists depend on the scopes of the caller, so a shared cache must not keep them. */
const LIST_HINT = { ttlMs: AGENT_LIMITS.listTtlMs, cacheScope: 'private' } as const;
const HINTS = {
  'tools/list': LIST_HINT,
  'prompts/list': LIST_HINT,
  'resources/templates/list': LIST_HINT,
  'server/discover': LIST_HINT,
  'resources/list': { ttlMs: 0, cacheScope: 'private' },
  'resources/read': { ttlMs: 0, cacheScope: 'private' },
} as const;

/**
 * Answers messages of both eras of the protocol, each with a server of its own: nothing is kept between two messages, so any
 * replica can answer any of them. `authInfo.extra.caller` is the caller, see `http/mcp.ts`.
 * Keeps agent.protocol.both-eras, agent.protocol.stateless, agent.lists.cache.
 */
export function createHandler(parts: ToolParts): McpHttpHandler {
  return createMcpHandler(
    ({ authInfo }) => {
      const caller = authInfo?.extra?.['caller'] as Caller;
      return serverOf(parts, caller);
    },
    { onerror: (err) => parts.log.debug({ err }, 'a message was refused') },
  );
}

/**
 * Nothing is kept between two messages, so no notification is ever sent. The library would announce the opposite, and keep a
 * connection open for each client that subscribes.
 */
const SILENT = { listChanged: false } as const;

const OPTIONS = {
  capabilities: { tools: SILENT, prompts: SILENT, resources: SILENT },
  instructions: INSTRUCTIONS,
  cacheHints: HINTS,
  // Shared, because making one takes a millisecond; only forms for the person would use it.
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
};

function serverOf(parts: ToolParts, caller: Caller): McpServer {
  const made = new McpServer(IDENTITY, OPTIONS);
  // With handlers of our own: tools are registered once for the process, and their arguments are checked as all bodies are.
  const { server } = made;
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS.filter((tool) => mayUse(tool, caller.principal)).map(listed),
  }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const tool = TOOL_BY_NAME.get(params.name);
    if (tool === undefined) throw invalid('There is no tool of this name. tools/list shows all of them.');
    return callTool(parts, tool, params.arguments ?? {}, cancelledBy(caller, mcpReq.signal));
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: LISTED_PROMPTS }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const text = promptText(params.name, params.arguments ?? {});
    if (text === undefined) throw invalid('There is no prompt of this name. prompts/list shows all of them.');
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
  server.setRequestHandler('resources/list', ({ params }, { mcpReq }) =>
    read(parts, cancelledBy(caller, mcpReq.signal), (graph) => listResources(params?.cursor, graph)),
  );
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq }) => {
    const resource = await read(parts, cancelledBy(caller, mcpReq.signal), (graph) => readResource(uri, graph));
    if (resource === null) throw new ResourceNotFoundError(uri);
    return { contents: [resource] };
  });
  return made;
}

function cancelledBy(caller: Caller, signal: AbortSignal): Caller {
  return { ...caller, signal: AbortSignal.any([caller.signal, signal]) };
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** What a tool refuses is a result; here it is an error of the protocol, with the same text. */
async function read<T>(parts: ToolParts, caller: Caller, run: (graph: Graph) => Promise<T>): Promise<T> {
  try {
    return await withGraph(parts, caller, run);
  } catch (error) {
    if (caller.signal.aborted) throw error;
    const { code, text, isFailure } = refusalOf(error, caller.requestId);
    if (code === 'internal') parts.log.error({ err: error, requestId: caller.requestId }, 'a resource failed');
    throw isFailure ? new ProtocolError(ProtocolErrorCode.InternalError, text) : invalid(text);
  }
}
