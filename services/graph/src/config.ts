import { LIMITS } from '@wts/contracts';
import {
  callerSettings,
  databaseUrlSetting,
  defineSettings,
  otherPasswordSetting,
  poolMaxSetting,
  replaySettings,
  replicaUrlSetting,
  serviceSettings,
  setting,
} from '@wts/service-kit/config';

export const settings = defineSettings({
  ...serviceSettings,
  ...callerSettings,
  ...replaySettings,
  databaseUrl: databaseUrlSetting('wts_graph, which only reads'),
  otherPassword: otherPasswordSetting,
  replicaUrl: replicaUrlSetting('Queries read from it when it has everything that the caller could read.'),
  poolMax: poolMaxSetting(),
  deadlineMs: setting.durationMs('OPERATION_TIMEOUT_MS', {
    default: LIMITS.graphDeadlineMs,
    min: 100,
    max: LIMITS.graphDeadlineMs,
    doc: 'How long an operation may take before it is cancelled, also in PostgreSQL. Lower it when callers give up earlier.',
  }),
  documentsFile: setting.text('DOCUMENTS_FILE', {
    optional: true,
    doc: 'JSON file with the only documents that run, by their hashes, as graphql-codegen writes it: {"<hash>": "query { ... }"}. Clients send the hash in extensions.persistedQuery.sha256Hash. Default: every valid document runs.',
  }),
  syncUrls: setting.urls('SYNC_SERVICE_URL', { doc: 'Addresses of the sync service, which commits every change.' }),
  workspaceUrls: setting.urls('WORKSPACE_SERVICE_URL', {
    doc: 'Addresses of the workspace service, which keeps invitations.',
  }),
  authUrls: setting.urls('AUTH_SERVICE_URL', { doc: 'Addresses of the auth service, which keeps API keys.' }),
});
