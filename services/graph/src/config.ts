import { defineSettings, serviceSettings, setting } from '@wts/service-kit/config';

const HTTP = { protocols: ['http', 'https'] } as const;
const POSTGRES = { secret: true, protocols: ['postgres', 'postgresql'] } as const;

export const settings = defineSettings({
  ...serviceSettings,
  databaseUrl: setting.url('DATABASE_URL', {
    ...POSTGRES,
    doc: 'PostgreSQL, with the role wts_graph, which only reads. A connection pooler in between must use session pooling.',
  }),
  replicaUrl: setting.url('DATABASE_REPLICA_URL', {
    ...POSTGRES,
    optional: true,
    doc: 'A streaming replica of the database. Queries read from it when it has everything that the caller could read. Set it to take load off the primary.',
  }),
  poolMax: setting.int('DATABASE_POOL_MAX', {
    default: 10,
    min: 1,
    max: 200,
    doc: 'Connections to PostgreSQL per process. Raise it when requests wait for a connection.',
  }),
  syncUrls: setting.urls('SYNC_URL', { ...HTTP, doc: 'Addresses of the sync service, which commits every change.' }),
  workspaceUrls: setting.urls('WORKSPACE_URL', {
    ...HTTP,
    doc: 'Addresses of the workspace service, which keeps API keys and invitations.',
  }),
});
