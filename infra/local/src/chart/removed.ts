/**
 * Values that this chart had in an earlier version, or that many charts have and this one does not, and what to use instead. The
 * template that fails with this sentence reads them from infra/chart/files/removed.json.
 */
export const REMOVED: Readonly<Record<string, string>> = {
  postgresql:
    'the chart has no database of its own; give the URL of one as SYNC_DATABASE_URL and so on in `secrets.existingSecret`, or set `database.host`.',
  redis: 'nothing here uses Redis; rate counts go over NATS.',
  replicaCount: 'use `defaults.replicas`, or `services.<name>.replicas`.',
  env: 'use `services.<name>.settings` for settings of a service, `defaults.extraEnv` for other variables.',
  resources: 'use `defaults.resources`, or `services.<name>.resources`.',
  autoscaling: 'use `defaults.autoscaling`, or `services.<name>.autoscaling`.',
};
