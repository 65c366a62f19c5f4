import { SHARDS_MAX } from '@wts/contracts';
import { count, flag, group, object, objects, oneOf, records, text, textMap, texts, type Values } from './value.ts';

const peers = (what: string) => objects(`${what}: peers of a NetworkPolicy. Empty: any address, on these ports only.`);
const url = (description: string) => ({ type: 'string', pattern: '^https?://.+', description });
const ports = (standard: readonly number[]) => ({
  doc: 'Their ports.',
  default: standard,
  schema: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65_535 } },
});
const route = { annotations: textMap('Its annotations.'), labels: textMap('Its labels.') };

/** What can be set for the whole installation, in the order of values.yaml. */
export const VALUES: Values = {
  global: group('Shared with other charts when this one is a part of a larger one.', {
    imageRegistry: text('Registry of all images, before `image.registry`.'),
    imagePullSecrets: texts('Names of Secrets to pull images with, besides `image.pullSecrets`.'),
  }),
  nameOverride: text('Replaces the name of the chart in labels.', '', '^[a-z0-9-]{0,40}$'),
  fullnameOverride: text('Replaces `<release>-wts` in the names of objects.', '', '^[a-z0-9-]{0,40}$'),
  commonLabels: textMap('Labels of all objects and pods.'),
  commonAnnotations: textMap('Annotations of all objects.'),
  baseUrl: text('Public address of the API, such as https://api.example.com. Required.', '', '^(https?://.+)?$'),
  authUrl: text(
    'Public address of the authorization origin, such as https://auth.example.com. Required. It may have a path.',
    '',
    '^(https?://.+)?$',
  ),
  apiKeyPrefix: text('Prefix of API keys.', 'wts_', '^[A-Za-z][A-Za-z0-9]{0,6}_$'),
  host: oneOf('Address that pods listen on: :: in a cluster with IPv6.', ['0.0.0.0', '::']),
  image: group('The images, one for each service: `<registry>/<prefix><service>:<tag>`.', {
    registry: text('Registry, and a path in it.'),
    prefix: text('What the name of each image begins with.', 'wts-'),
    tag: text('Tag. Empty: appVersion of the chart, which is the right one.'),
    pullPolicy: oneOf('When images are pulled.', ['IfNotPresent', 'Always', 'Never']),
    pullSecrets: texts('Names of Secrets to pull images with.'),
  }),
  secrets: group(
    'No secret is made by the chart. infra/docs/deploy.md has the command that prints a Secret with all keys.',
    {
      existingSecret: text(
        'Secret with all secrets. Each one can come from another Secret: `services.<name>.existingSecret`, `services.<name>.secrets`.',
        'wts-secrets',
      ),
      revision: text('Any text. Change it after a Secret changed: all pods are then replaced, one after the other.'),
    },
  ),
  database: group('PostgreSQL. By default the URL of each role is a key of the Secret: SYNC_DATABASE_URL and so on.', {
    host: text(
      'Host of the primary, such as wts-db-rw. When set, the Secret has only passwords: `services.<name>.secrets.PGPASSWORD`.',
    ),
    port: count('Port, with `host`.', 5432, 1),
    name: text('Database, with `host`.', 'wts'),
    parameters: text('Parameters of the URL, with `host`.', 'sslmode=verify-full'),
    replicaHost: text('Host of streaming replicas, such as wts-db-ro, with `host`. sync and graph read there.'),
    migrationHost: text('Host for migrations, with `host`. Set it to the server itself when `host` is a pooler.'),
  }),
  nats: group('NATS with JetStream. By default the URL of each user is a key of the Secret: SYNC_NATS_URL and so on.', {
    servers: texts(
      'Servers, such as nats://nats-0.nats:4222, or tls:// for TLS. When set, the Secret has only passwords, of characters that a URL may have: `services.<name>.secrets.NATS_PASSWORD`.',
    ),
    streamReplicas: count('Copies of the stream: 3 with three servers or more.', 1, 1),
  }),
  extraCa: group(
    'Certificate authorities that every service trusts besides the public ones: of PostgreSQL, NATS, mail server, identity provider.',
    {
      configMap: text('ConfigMap that has them.'),
      existingSecret: text('Secret that has them, instead.'),
      key: text('Its key, a PEM file.', 'ca.crt'),
    },
  ),
  telemetry: group('Traces (OpenTelemetry).', {
    endpoint: text(
      'Address of a collector, OTLP over HTTP, such as http://otel-collector.monitoring:4318. Empty: no traces.',
    ),
    resourceAttributes: textMap(
      'More attributes of the resource. The chart adds those of the pod, the node, the namespace and the Deployment.',
    ),
  }),
  cell: group(
    'One of several installations that share an auth service. A cell without auth has `services.auth.enabled` false and its address in `services.auth.url`; the one with auth has the others in `cells`.',
    {
      name: text('Its name, a label of its pods and an attribute of its traces.', '', '^[a-z0-9-]{0,63}$'),
      shard: count(
        'Number of its log, in the names of subjects and metrics. Different in each cell; never changed. New people are in cell 0, which is the one with auth.',
        0,
      ),
    },
  ),
  cells: records(
    'The other cells of the installation that has auth, see infra/docs/cells.md. Each is an installation of its own, with `cell.shard`.',
    {
      shard: { type: 'integer', minimum: 0, maximum: SHARDS_MAX - 1, description: 'Its `cell.shard`.' },
      baseUrl: url('Its `baseUrl`.'),
      syncUrl: url('Address of its sync service, such as http://wts-two-sync.two:8080.'),
      workspaceUrl: url('Address of its workspace service.'),
      dispatcherUrl: url('Address of its webhook-dispatcher service.'),
      natsUrl: {
        type: 'object',
        additionalProperties: false,
        required: ['existingSecret', 'key'],
        description: 'Where NATS_URL of auth at its NATS comes from.',
        properties: {
          existingSecret: { type: 'string', description: 'The Secret.' },
          key: { type: 'string', description: 'The key in it.' },
        },
      },
    },
  ),
  migrations: group('The Job that brings the schemas up to date, named by version.', {
    enabled: flag('Whether there is one.', true),
    hook: oneOf(
      'helm: before an installation and an upgrade. argocd: before each synchronization. none: beside the services, which are not ready until their schema is.',
      ['helm', 'argocd', 'none'],
    ),
    ttlSecondsAfterFinished: count(
      'How long the Job is kept after its end. An operator of GitOps would run it again after that, to no effect.',
      86_400,
      3600,
    ),
    backoffLimit: count('How often it is tried again.', 6),
    activeDeadlineSeconds: count('How long it may take with all tries.', 3600, 60),
    serviceAccountName: text(
      'ServiceAccount of the Job. That of the namespace by default, because a hook runs before those of the chart exist.',
      'default',
    ),
    annotations: textMap('More annotations of the Job.'),
    resources: object('Requests and limits of its containers.', {
      requests: { cpu: '100m', memory: '192Mi' },
      limits: { memory: '512Mi' },
    }),
  }),
  gateway: group('The Service of the gateway, the only public one.', {
    type: oneOf('Type of the Service.', ['ClusterIP', 'LoadBalancer', 'NodePort']),
    annotations: textMap('Its annotations.'),
    loadBalancerClass: text('Class of the load balancer.'),
    externalTrafficPolicy: text('Local keeps the address of the caller.', '', '^(|Local|Cluster)$'),
  }),
  tls: group('Certificates of both origins, for the Ingress, or for a Gateway of the Gateway API.', {
    enabled: flag('Whether they are used.', true),
    existingSecret: text('Secret with the certificate (tls.crt, tls.key) of both names.', 'wts-tls'),
    certManager: group('A Certificate of cert-manager that fills this Secret.', {
      enabled: flag('Whether there is one.', false),
      issuer: text('Name of its issuer.'),
      issuerKind: oneOf('Kind of its issuer.', ['ClusterIssuer', 'Issuer']),
    }),
  }),
  ingress: group('An Ingress for both origins.', {
    enabled: flag('Whether there is one.', false),
    className: text('Class of the Ingress.'),
    controller: oneOf(
      'Adds the annotations by which a controller keeps sockets open for more than an hour, streams, and takes bodies of 4 MiB.',
      ['none', 'nginx', 'traefik', 'haproxy', 'cilium', 'alb'],
    ),
    ...route,
  }),
  httpRoute: group('HTTPRoutes of the Gateway API for both origins.', {
    enabled: flag('Whether there are any.', false),
    parentRefs: objects('The Gateways and listeners that they are attached to.'),
    timeouts: object('Timeouts of each rule. 0s is none; without it many Gateways end sockets and streams early.', {
      request: '0s',
      backendRequest: '0s',
    }),
    ...route,
  }),
  networkPolicies: group('NetworkPolicies: nothing is allowed but what a service needs.', {
    enabled: flag('Whether there are any.', true),
    gatewayFrom: objects('Who may call the gateway: peers. Empty: everyone.'),
    metricsFrom: objects('Who may read metrics: peers.', [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
    ]),
    dnsTo: objects('DNS servers: peers. With NodeLocal DNSCache add {ipBlock: {cidr: 169.254.20.10/32}}.', [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
    ]),
    database: group('PostgreSQL.', { to: peers('Its servers'), ports: ports([5432]) }),
    nats: group('NATS.', { to: peers('Its servers'), ports: ports([4222]) }),
    mail: group('The mail server of auth.', { to: peers('Its servers'), ports: ports([465, 587]) }),
    identityProviders: group(
      'Those with a private address, for sync, auth and gateway. Public ones are allowed on port 443.',
      {
        to: objects('Their servers: peers.'),
        ports: ports([443]),
      },
    ),
    telemetry: group('The collector of traces.', { to: peers('Its servers'), ports: ports([4318]) }),
    servicesFrom: objects(
      'Who may call services from another installation: peers. They reach only those that a service which does not run here calls, and with `cells` auth.',
    ),
    services: group('Services of another installation (`services.<name>.url`, `cells`).', {
      to: peers('Their pods'),
      ports: ports([8080]),
    }),
    extraEgress: objects('More rules of egress for all pods.'),
  }),
  metrics: group('What Prometheus and Grafana read.', {
    serviceMonitor: group('A ServiceMonitor of the Prometheus operator.', {
      enabled: flag('Whether there is one.', false),
      interval: text('How often it reads.', '30s'),
      labels: textMap('Labels by which the operator finds it.'),
      relabelings: objects('Its relabelings.'),
    }),
    rules: group('A PrometheusRule with the alerts of infra/observability/rules.yaml.', {
      enabled: flag('Whether there is one.', false),
      labels: textMap('Labels by which the operator finds it.'),
      runbookUrlPrefix: text(
        'What the links to the runbook begin with: the address of this repository in yours, with a slash at its end.',
      ),
    }),
    dashboards: group('Dashboards as ConfigMaps, which the sidecar of Grafana finds.', {
      enabled: flag('Whether there are any.', false),
      labels: textMap('Labels by which the sidecar finds them.', { grafana_dashboard: '1' }),
      annotations: textMap('Annotations, such as the folder.', { grafana_folder: 'Workspace Task Service' }),
    }),
  }),
  keda: group('What autoscaling of kind keda reads.', {
    prometheusUrl: text('Address of Prometheus, such as http://prometheus.monitoring:9090.'),
    socketsPerReplica: count('Sockets of a replica of gateway or sync.', 4000, 1),
    webhookLagSeconds: count(
      'Seconds that webhooks are late for each replica: 30 s with 10 are three replicas.',
      10,
      1,
    ),
    postgresSslMode: oneOf('How the scaler of PostgreSQL connects, with `database.host`.', [
      'verify-full',
      'require',
      'disable',
    ]),
    deliveriesPerReplica: count('Due deliveries of a replica of webhook-dispatcher.', 2000, 1),
  }),
  test: group('`helm test` makes one change, follows it on one socket and has one webhook sent.', {
    enabled: flag('Whether there is one.', true),
    existingSecret: text('Secret with an API key of an owner of a workspace that exists for this.', 'wts-test'),
    key: text('Its key.', 'api-key'),
    apiUrl: text('Address of the API for the test. Empty: the Service of the gateway.'),
    webhookUrl: text('Where the webhook goes; any HTTP answer counts. Empty: /health of `baseUrl`. off: none is sent.'),
  }),
  extraObjects: objects('More objects, as YAML or as text that is a template.'),
};
