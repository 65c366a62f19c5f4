import type { Rule } from './rule.ts';

const planned = (id: string, source: string, text: string): Rule => ({
  id,
  source,
  text,
  home: null,
  status: 'planned',
});
const kept = (id: string, home: string, text: string, source = 'Design 10'): Rule => ({
  id,
  source,
  text,
  home,
  status: 'kept',
});

/** The MCP endpoint for agents at `{auth_url}/mcp`: design section 10. */
export const agent: readonly Rule[] = [
  kept(
    'agent.protocol.both-eras',
    'services/agent/src/mcp/server.ts',
    'Clients of the revision 2026-07-28 and of the 2025 revisions use the same tools.',
  ),
  planned(
    'agent.protocol.stateless',
    'Design 10',
    'Nothing is kept between two messages: any replica answers any message.',
  ),
  planned(
    'agent.http.post-only',
    'Design 10',
    'Other methods than POST are 405 with `Allow`, in the common error shape.',
  ),
  planned('agent.http.foreign-host', 'Design 10', 'A request with the `Host` of another site is 403.'),
  planned('agent.http.foreign-origin', 'Design 10', 'A request with the `Origin` of another site is 403.'),
  planned(
    'agent.tools.scope',
    'Design 10',
    'Tools that change something are listed and run only with the scope `write`.',
  ),
  planned(
    'agent.tools.step-up',
    'Design 10',
    'A call of such a tool with an OAuth token without `write` is 403 with a challenge that names the scopes.',
  ),
  planned(
    'agent.errors.advice',
    'Design 10',
    'What a tool refuses is a result with `isError` and a text that says what to change.',
  ),
  planned(
    'agent.words.no-foreign-names',
    'Design 14.4',
    'No answer shows a name of a workspace or a private project that the caller is not in.',
  ),
];
