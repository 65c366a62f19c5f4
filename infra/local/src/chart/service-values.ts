import {
  count,
  countOrPercent,
  flag,
  group,
  object,
  objects,
  oneOf,
  text,
  textMap,
  texts,
  type Values,
} from './value.ts';

/** What can be set for each service: under `defaults` for all of them, under `services.<name>` for one. */
export const SERVICE_VALUES: Values = {
  enabled: flag(
    'Whether the chart runs the service. Its callers answer 503 for what it does, unless `url` names another one.',
    true,
  ),
  url: text(
    'Address of this service in another installation, which its callers use instead of the one of this chart, such as http://wts-auth.other:8080.',
  ),
  replicas: count('Replicas, when `autoscaling.kind` is none.', 2),
  image: group('The image of this service, where it differs from `image`.', {
    registry: text('Registry, instead of that of `image`.'),
    repository: text('Repository, instead of the prefix of `image` and the name of the service.'),
    tag: text('Tag, instead of that of `image`.'),
    digest: text('Digest (sha256:...), which replaces the tag.', '', '^(sha256:[0-9a-f]{64})?$'),
  }),
  existingSecret: text('Secret with the secrets of this service, instead of `secrets.existingSecret`.'),
  extraEnv: objects('More environment variables, as in a container: name and value or valueFrom.'),
  envFrom: objects('ConfigMaps and Secrets whose keys become environment variables.'),
  extraVolumes: objects('More volumes of the pod.'),
  extraVolumeMounts: objects('Their mounts.'),
  labels: textMap('More labels of the Deployment.'),
  annotations: textMap('More annotations of the Deployment.'),
  podLabels: textMap('More labels of the pods.'),
  podAnnotations: textMap('More annotations of the pods.'),
  affinity: object('Affinity of the pods.'),
  tolerations: objects('Tolerations of the pods.'),
  nodeSelector: textMap('Labels that a node must have.'),
  priorityClassName: text('Priority class of the pods.'),
  runtimeClassName: text('Runtime class of the pods.'),
  spread: group('How replicas are distributed.', {
    zones: oneOf('Over zones: preferred, required, or off.', ['preferred', 'required', 'off']),
    nodes: oneOf('Over nodes: preferred, required, or off.', ['preferred', 'required', 'off']),
  }),
  resources: object(
    'Requests and limits of the container. Empty: the measured memory of the service (files/services.json) as request, twice as much as limit, and no CPU limit for sync and gateway.',
  ),
  heapMb: count(
    'Heap of Node in MiB (--max-old-space-size). 0: 60 % of the memory limit, which is set in the image.',
    0,
  ),
  podSecurityContext: object('Security context of the pods: what Pod Security "restricted" asks for.', {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    seccompProfile: { type: 'RuntimeDefault' },
  }),
  containerSecurityContext: object('Security context of the containers.', {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  }),
  serviceAccount: group('The ServiceAccount of the pods, which gets no token.', {
    name: text('An existing ServiceAccount. Empty: the chart makes one for each service.'),
    annotations: textMap('Annotations of the one that the chart makes.'),
  }),
  serviceAnnotations: textMap('Annotations of its Service.'),
  rollingUpdate: group('How a new version replaces the old one.', {
    maxUnavailable: countOrPercent('Replicas that may be missing meanwhile.', 0),
    maxSurge: countOrPercent('Replicas that may run besides.', 1),
  }),
  shutdown: group('How a pod ends. The chart gives it delayMs + graceMs + 10 s.', {
    delayMs: count('How long it still accepts requests while endpoints and load balancers forget it.', 5000),
    graceMs: count('How long requests in progress may take after that.', 10_000),
  }),
  probes: group('The startup and liveness probe ask /health, which asks no store; the readiness probe asks /ready.', {
    startupSeconds: count('How long the start may take.', 60, 1),
    readinessPeriodSeconds: count(
      'How often readiness is asked for. Two failures in a row take the pod out of its Service.',
      5,
      1,
    ),
    livenessPeriodSeconds: count('How often liveness is asked for. Three failures in a row restart the pod.', 10, 1),
    timeoutSeconds: count('How long an answer may take.', 3, 2),
  }),
  disruptionBudget: group(
    'PodDisruptionBudget. There is none for a single replica, because it would stop every drain.',
    {
      enabled: flag('Whether there is one.', true),
      maxUnavailable: countOrPercent('Replicas that a drain may take at once.', 1),
    },
  ),
  autoscaling: group('How many replicas there are.', {
    kind: oneOf(
      'none: `replicas`. hpa: a HorizontalPodAutoscaler by CPU. keda: a ScaledObject by CPU and `autoscaling.triggers`.',
      ['none', 'hpa', 'keda'],
    ),
    minReplicas: count('Least number of replicas.', 2, 1),
    maxReplicas: count('Greatest number of replicas.', 6, 1),
    cpuPercent: count('CPU that a replica uses on average, in percent of its request.', 70, 1),
    behavior: object(
      'How fast it scales: the field `behavior` of autoscaling/v2. Sockets move when replicas go, so it goes down slowly.',
      {
        scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] },
      },
    ),
    triggers: texts(
      'What KEDA scales by besides CPU: sockets and webhookLag by Prometheus, deliveries by PostgreSQL; `keda` has the numbers.',
    ),
    extraTriggers: objects('More triggers of KEDA.'),
  }),
};

/** What differs from these for one service. The schema of `triggers` names what that service has. */
export const SERVICE_DEFAULTS: Readonly<Record<string, object>> = {
  gateway: { autoscaling: { triggers: ['sockets'] } },
  sync: { autoscaling: { triggers: ['sockets'] } },
  'webhook-dispatcher': { autoscaling: { triggers: ['webhookLag'] } },
};
