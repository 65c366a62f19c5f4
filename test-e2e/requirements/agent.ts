import type { Rule } from './rule.ts';

/** The MCP endpoint for agents at `{auth_url}/mcp`. */
export const agent: readonly Rule[] = [
  {
    id: 'agent.protocol.both-eras',
    source: 'Design 10',
    text: 'Clients of the revision 2026-07-28 and of the 2025 revisions use the same tools.',
    home: 'services/agent/src/mcp/server.ts',
  },
  {
    id: 'agent.protocol.stateless',
    source: 'Design 10',
    text: 'Nothing is kept between two messages: any replica answers any message.',
    home: 'services/agent/src/mcp/server.ts',
  },
  {
    id: 'agent.http.post-only',
    source: 'Design 10',
    text: 'Other methods than POST are 405 with `Allow`, in the common error shape.',
    home: 'packages/contracts/src/auth/mcp.ts',
  },
  {
    id: 'agent.http.foreign-host',
    source: 'Design 10',
    text: 'A request for another host than that of {auth_url} is 403; a loopback address accepts every loopback name.',
    home: 'services/gateway/src/edge/allow-origin.ts',
  },
  {
    id: 'agent.http.foreign-origin',
    source: 'Design 10',
    text: 'At a loopback address, a request with the `Origin` of a page of elsewhere is 403.',
    home: 'services/gateway/src/edge/allow-origin.ts',
  },
  {
    id: 'agent.cells.address',
    source: 'Decision 0040',
    text: 'Each further cell has an agent endpoint at {base_url}/mcp, which its documents and the challenge of a 401 name, and none at {auth_url}.',
    home: 'packages/access/src/issuer-of.ts',
  },
  {
    id: 'agent.cells.audience',
    source: 'Decision 0040',
    text: 'A client is granted the resources of the cells of the installation and no others, and a token for the agents of a cell is accepted by that cell alone.',
    home: 'services/auth/src/oauth/resources.ts',
  },
  {
    id: 'agent.tools.listed',
    source: 'Design 10',
    text: 'Every tool has a title, a description with an example, schemas of its arguments (no others are accepted) and its result, and hints about what it changes; their order is always the same.',
    home: 'services/agent/src/tools/tool.ts',
  },
  {
    id: 'agent.tools.work',
    source: 'Design 10',
    text: 'The tools read and change workspaces, projects, tasks, comments and labels; names, keys and words for days are accepted for all of them, and each item of a batch has its own result.',
    home: 'services/agent/src/tools/index.ts',
  },
  {
    id: 'agent.tools.idempotency',
    source: 'Design 10',
    text: 'A call repeated with its `idempotencyKey` makes nothing twice.',
    home: 'services/agent/src/tools/change-tasks.ts',
  },
  {
    id: 'agent.tools.scope',
    source: 'Design 10',
    text: 'Tools that change something are listed and run only with the scope `write`.',
    home: 'services/agent/src/mcp/call-tool.ts',
  },
  {
    id: 'agent.errors.advice',
    source: 'Design 10',
    text: 'What a tool refuses is a result with `isError` and a text that says what to change.',
    home: 'services/agent/src/mcp/call-tool.ts',
  },
  {
    id: 'agent.errors.outage',
    source: 'Design 10',
    text: 'While a part of the service is down, a tool says after how many seconds to try again.',
    home: 'services/agent/src/tool-error.ts',
  },
  {
    id: 'agent.resources.listed',
    source: 'Design 10',
    text: 'Tasks, projects and comments are resources as Markdown; the open tasks of the person are listed.',
    home: 'services/agent/src/mcp/resources.ts',
  },
  {
    id: 'agent.texts.visible',
    source: 'Design 14',
    text: 'A tool and a resource give a model no characters of texts that clients do not show, such as tags and format characters.',
    home: 'services/agent/src/graph/visible-texts.ts',
  },
  {
    id: 'agent.resources.quoted',
    source: 'Design 14',
    text: 'In the Markdown of a record, what people wrote is in one line after a name or in quoted lines, so that it cannot look like another part of the record or like words of the service.',
    home: 'services/agent/src/views/markdown.ts',
  },
  {
    id: 'agent.lists.cache',
    source: 'Design 10',
    text: 'Lists say how long they hold (`ttlMs`), and that they are of one person (`cacheScope`).',
    home: 'services/agent/src/mcp/server.ts',
  },
  {
    id: 'agent.tools.step-up',
    source: 'Design 10',
    text: 'A call of a tool that changes something, with an OAuth token without `write`, is 403 with a challenge that names the scopes.',
    home: 'services/agent/src/http/mcp.ts',
  },
  {
    id: 'agent.words.no-foreign-names',
    source: 'Design 14.4',
    text: 'No answer shows a name of a workspace or a private project that the caller is not in.',
    home: 'packages/client/src/names/names.ts',
  },
];
