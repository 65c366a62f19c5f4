import { contract } from '../contract.ts';
import { LIMITS } from '../limits.ts';

/**
 * The agent endpoint: one message of the Model Context Protocol. Other methods of HTTP are 405, because the server keeps no
 * session and opens no stream of its own. Errors of the protocol are JSON-RPC errors; errors of the request as a message of HTTP
 * have the common shape.
 * Keeps agent.http.post-only.
 */
export const call = contract({
  id: 'mcp',
  method: 'POST',
  path: '/mcp',
  tag: 'Agent',
  summary: 'Send a message of the Model Context Protocol',
  scope: 'read',
  body: { type: 'object', additionalProperties: true },
  bodyBytesMax: LIMITS.bodyBytes,
  reply: {
    status: 200,
    description: 'A JSON-RPC answer, or a stream of server-sent events that ends with it.',
    schema: { type: 'object', additionalProperties: true },
  },
  errors: ['not_acceptable', 'forbidden'],
});
