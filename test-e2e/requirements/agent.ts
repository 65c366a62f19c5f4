import type { Rows } from './rule.ts';

/** The MCP endpoint for agents at `{auth_url}/mcp`. */
// prettier-ignore
export const agent: Rows = [
  ['agent.protocol.both-eras', 'Clients of the revision 2026-07-28 and of the 2025 revisions use the same tools.', 'services/agent/src/mcp/server.ts', 'Design 10'],
  ['agent.protocol.stateless', 'Nothing is kept between two messages: any replica answers any message.', 'services/agent/src/mcp/server.ts', 'Design 10'],
  ['agent.http.post-only', 'Other methods than POST are 405 with `Allow`, in the common error shape.', 'packages/contracts/src/auth/mcp.ts', 'Design 10'],
  ['agent.http.foreign-host', 'A request for another host than that of {auth_url} is 403; a loopback address accepts every loopback name.', 'services/gateway/src/edge/allow-origin.ts', 'Design 10'],
  ['agent.http.foreign-origin', 'At a loopback address, a request with the `Origin` of a page of elsewhere is 403.', 'services/gateway/src/edge/allow-origin.ts', 'Design 10'],
  ['agent.cells.address', 'Each further cell has an agent endpoint at {base_url}/mcp, which its documents and the challenge of a 401 name, and none at {auth_url}.', 'packages/access/src/issuer-of.ts', 'Decision 0040'],
  ['agent.cells.audience', 'A client is granted the resources of the cells of the installation and no others, and a token for the agents of a cell is accepted by that cell alone.', 'services/auth/src/oauth/resources.ts', 'Decision 0040'],
  ['agent.tools.listed', 'Every tool has a title, a description with an example, schemas of its arguments (no others are accepted) and its result, and hints about what it changes; their order is always the same.', 'services/agent/src/tools/tool.ts', 'Design 10'],
  ['agent.tools.work', 'The tools read and change workspaces, projects, tasks, comments and labels; names, keys and words for days are accepted for all of them, and each item of a batch has its own result.', 'services/agent/src/tools/index.ts', 'Design 10'],
  ['agent.tools.idempotency', 'A call repeated with its `idempotencyKey` makes nothing twice.', 'services/agent/src/tools/change-tasks.ts', 'Design 10'],
  ['agent.tools.scope', 'Tools that change something are listed and run only with the scope `write`.', 'services/agent/src/mcp/call-tool.ts', 'Design 10'],
  ['agent.errors.advice', 'What a tool refuses is a result with `isError` and a text that says what to change.', 'services/agent/src/mcp/call-tool.ts', 'Design 10'],
  ['agent.errors.outage', 'While a part of the service is down, a tool says after how many seconds to try again.', 'services/agent/src/tool-error.ts', 'Design 10'],
  ['agent.resources.listed', 'Tasks, projects and comments are resources as Markdown; the open tasks of the person are listed.', 'services/agent/src/mcp/resources.ts', 'Design 10'],
  ['agent.texts.visible', 'A tool and a resource give a model no characters of texts that clients do not show, such as tags and format characters.', 'services/agent/src/graph/visible-texts.ts', 'Design 14'],
  ['agent.resources.quoted', 'In the Markdown of a record, what people wrote is in one line after a name or in quoted lines, so that it cannot look like another part of the record or like words of the service.', 'services/agent/src/views/markdown.ts', 'Design 14'],
  ['agent.lists.cache', 'Lists say how long they hold (`ttlMs`), and that they are of one person (`cacheScope`).', 'services/agent/src/mcp/server.ts', 'Design 10'],
  ['agent.tools.step-up', 'A call of a tool that changes something, with an OAuth token without `write`, is 403 with a challenge that names the scopes.', 'services/agent/src/http/mcp.ts', 'Design 10'],
  ['agent.words.no-foreign-names', 'No answer shows a name of a workspace or a private project that the caller is not in.', 'packages/client/src/names/names.ts', 'Design 14.4'],
];
