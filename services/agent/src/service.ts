import type { ConfigOf } from '@wts/service-kit/config';
import type { ServiceDefinition } from '@wts/service-kit/life';
import { createApp, notFoundAndErrors } from '@wts/service-kit/routes';
import { settings } from './config.ts';

/** The MCP endpoint: tools for agents, with only the rights of the caller. Every tool is a GraphQL operation of the caller. */
export const agentService: ServiceDefinition<ConfigOf<typeof settings>> = {
  name: 'agent',
  settings,
  async open(kit, config) {
    const app = createApp(kit);
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};
