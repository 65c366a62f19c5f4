import { issuerOf } from '@wts/access';
import {
  callerSettings,
  cellSetting,
  defineSettings,
  refusalOf,
  serviceSettings,
  setting,
} from '@wts/service-kit/config';

export const settings = defineSettings({
  ...serviceSettings,
  ...callerSettings,
  authUrl: setting.url('AUTH_URL', {
    default: 'http://localhost:4001',
    refuse: refusalOf(issuerOf),
    doc: 'Public address of the authorization origin, the same as for the gateway: the endpoint of cell 0 is at /mcp of it.',
  }),
  baseUrl: setting.url('BASE_URL', {
    default: 'http://localhost:4000',
    doc: 'Public address of the API, the same as for the gateway: the endpoint of a further cell is at /mcp of it.',
  }),
  shard: cellSetting,
  graphUrls: setting.urls('GRAPH_SERVICE_URL', {
    doc: 'Addresses of the graph service, which reads and changes everything for the agent.',
  }),
});
