import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { createMcpHandler, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { API_VERSION } from '@wts/contracts';
import type { Caller } from '../graph/graph.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { TOOL_BY_NAME, TOOLS } from '../tools/index.ts';
import { listed } from '../tools/tool.ts';
import type { ToolParts } from './call-tool.ts';
import { callTool, mayUse } from './call-tool.ts';
import { INSTRUCTIONS } from './instructions.ts';

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
 * Keeps agent.protocol.both-eras, agent.protocol.stateless.
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

function serverOf(parts: ToolParts, caller: Caller): McpServer {
  const made = new McpServer(IDENTITY, { capabilities: { tools: {} }, instructions: INSTRUCTIONS, cacheHints: HINTS });
  // With handlers of our own: tools are registered once for the process, and their arguments are checked as all bodies are.
  const { server } = made;
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS.filter((tool) => mayUse(tool, caller.principal)).map(listed),
  }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const tool = TOOL_BY_NAME.get(params.name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool of this name.');
    const signal = AbortSignal.any([caller.signal, mcpReq.signal]);
    return callTool(parts, tool, params.arguments ?? {}, { ...caller, signal });
  });
  return made;
}
