import { mcpMetadataUrlOf } from '@wts/access';
import { openServiceClient } from '@wts/service-kit/call';
import type { ConfigOf } from '@wts/service-kit/config';
import { FairGate } from '@wts/service-kit/fairness';
import type { ServiceDefinition } from '@wts/service-kit/life';
import { createApp, notFoundAndErrors } from '@wts/service-kit/routes';
import { settings } from './config.ts';
import { mountMcp } from './http/mcp.ts';
import { AGENT_LIMITS } from './limits.ts';
import { createHandler } from './mcp/server.ts';
import { toolMetrics } from './metrics.ts';

/**
 * The MCP endpoint: tools for agents, with only the rights of the caller. `http/` reads and answers messages, `mcp/` is the server
 * of one message, `tools/` has one file for each tool. Every tool is a GraphQL operation of the caller.
 */
export const agentService: ServiceDefinition<ConfigOf<typeof settings>> = {
  name: 'agent',
  settings,
  async open(kit, config) {
    const handler = createHandler({
      graph: openServiceClient(kit, 'graph', config.graphUrls),
      gate: new FairGate({
        slots: AGENT_LIMITS.callsMax,
        networkOf: kit.networks.of,
        slotsOfOneMax: AGENT_LIMITS.callsOfPersonMax,
        waitMs: AGENT_LIMITS.callWaitMs,
        waitingMax: AGENT_LIMITS.callsWaitingMax,
        refusal: 'Too many calls of tools are running',
      }),
      metrics: toolMetrics(kit.metrics),
      checkReplies: kit.http.checkReplies,
      log: kit.log,
    });
    kit.stack.defer(() => handler.close());
    const app = createApp(kit);
    mountMcp(app, handler, { realm: 'mcp', metadataUrl: mcpMetadataUrlOf(config) });
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};
