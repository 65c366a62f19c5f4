/**
 * What `helm template` rendered, as plans for containers. A field that this reader does not know is an error, because it would be
 * ignored: a run would then not show what the chart says.
 */
import { parseAllDocuments } from 'yaml';
import type { Container, KubernetesObject, KubernetesProbe, PodSpec, Volume } from './kubernetes.ts';
import type { ContainerPlan, Plan, Probe, Workload } from './plan.ts';

/** Kinds that need controllers which do not run here. */
const NOT_RUN = new Set(
  'ServiceAccount PodDisruptionBudget HorizontalPodAutoscaler NetworkPolicy ServiceMonitor PodMonitor PrometheusRule ScaledObject Ingress HTTPRoute Certificate Namespace Role RoleBinding'.split(
    ' ',
  ),
);
const POD_FIELDS = new Set(
  'containers initContainers volumes securityContext terminationGracePeriodSeconds restartPolicy serviceAccountName automountServiceAccountToken enableServiceLinks imagePullSecrets affinity tolerations nodeSelector topologySpreadConstraints priorityClassName'.split(
    ' ',
  ),
);
const CONTAINER_FIELDS = new Set(
  'name image imagePullPolicy command args env envFrom ports resources securityContext volumeMounts startupProbe readinessProbe livenessProbe'.split(
    ' ',
  ),
);

/** Values of Secrets, by the name of the Secret and the key. */
export type SecretValues = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function readManifest(text: string, secrets: SecretValues): Plan {
  const objects = parseAllDocuments(text, { version: '1.1', schema: 'core' })
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((one) => one !== null);
  const ofKind = (kind: string): KubernetesObject[] => objects.filter((one) => one.kind === kind);
  const configMaps = Object.fromEntries(ofKind('ConfigMap').map(({ metadata, data = {} }) => [metadata.name, data]));
  const known = new Set(['Deployment', 'Service', 'Job', 'ConfigMap', 'Pod']);
  const unknown = objects.filter(({ kind }) => !known.has(kind) && !NOT_RUN.has(kind));
  if (unknown.length > 0) throw new Error(`the chart has ${unknown[0]?.kind}, which this reader does not know`);
  const replicas = new Map(
    ofKind('HorizontalPodAutoscaler').map(({ spec }) => [spec?.scaleTargetRef?.name, spec?.minReplicas]),
  );
  const values = { secrets, configMaps };
  return {
    jobs: ofKind('Job').map((job) => workload(job, values, 1)),
    deployments: ofKind('Deployment').map((one) =>
      workload(one, values, one.spec?.replicas ?? replicas.get(one.metadata.name) ?? 1),
    ),
    services: ofKind('Service').map(({ metadata, spec }) => ({ name: metadata.name, selector: spec?.selector ?? {} })),
  };
}

interface Values {
  readonly secrets: SecretValues;
  readonly configMaps: SecretValues;
}

function workload({ metadata, spec }: KubernetesObject, values: Values, replicas: number): Workload {
  const { name } = metadata;
  const template = spec?.template;
  if (template === undefined) throw new Error(`${name} has no pods`);
  const pod = template.spec;
  refuseUnknown(pod, POD_FIELDS, name);
  const container = (one: Container): ContainerPlan => containerPlan(one, pod, values, name);
  const [main, ...others] = pod.containers;
  if (main === undefined || others.length > 0) throw new Error(`${name} does not have one container`);
  return {
    name,
    labels: template.metadata?.labels ?? {},
    replicas,
    graceSeconds: pod.terminationGracePeriodSeconds ?? 30,
    init: (pod.initContainers ?? []).map(container),
    main: container(main),
  };
}

function containerPlan(one: Container, pod: PodSpec, values: Values, owner: string): ContainerPlan {
  refuseUnknown(one, CONTAINER_FIELDS, owner);
  const security = { ...pod.securityContext, ...one.securityContext };
  const mounts = (one.volumeMounts ?? []).map(({ name, mountPath }) => {
    const volume = pod.volumes?.find((each) => each.name === name);
    if (volume === undefined) throw new Error(`${owner} mounts ${name}, which is no volume of it`);
    return { volume, mountPath };
  });
  return {
    name: one.name,
    image: one.image,
    command: one.command ?? [],
    args: one.args ?? [],
    env: environment(one, values, owner),
    memory: one.resources?.limits?.memory ?? '',
    user: security.runAsUser,
    isReadOnly: security.readOnlyRootFilesystem === true,
    dropsAll: security.capabilities?.drop?.includes('ALL') === true,
    temporary: mounts.flatMap(({ volume, mountPath }) => (volume.emptyDir === undefined ? [] : [mountPath])),
    files: mounts.flatMap(({ volume, mountPath }) =>
      contentOf(volume, values, owner).map(([key, text]) => ({ path: `${mountPath}/${key}`, text })),
    ),
    readiness: probe(one, one.readinessProbe),
    liveness: probe(one, one.livenessProbe),
  };
}

function contentOf(volume: Volume, { secrets, configMaps }: Values, owner: string): [string, string][] {
  if (volume.emptyDir !== undefined) return [];
  const source = volume.secret ?? volume.configMap;
  const all = volume.secret ? secrets[volume.secret.secretName] : configMaps[volume.configMap?.name ?? ''];
  if (all === undefined && source?.optional) return [];
  if (all === undefined) throw new Error(`${owner} has the volume ${volume.name}, which does not exist here`);
  return source?.items?.map(({ key, path }): [string, string] => [path, all[key] ?? '']) ?? Object.entries(all);
}

function environment(one: Container, { secrets, configMaps }: Values, owner: string): ContainerPlan['env'] {
  const named = (one.envFrom ?? []).flatMap(({ secretRef, configMapRef }) =>
    Object.entries((secretRef ? secrets[secretRef.name] : configMaps[configMapRef?.name ?? '']) ?? {}),
  );
  const own = (one.env ?? []).flatMap(({ name, value = '', valueFrom }): ContainerPlan['env'] => {
    if (valueFrom === undefined) return [[name, value]];
    if (valueFrom.fieldRef) return [[name, { field: valueFrom.fieldRef.fieldPath }]];
    const reference = valueFrom.secretKeyRef ?? valueFrom.configMapKeyRef;
    if (reference === undefined) throw new Error(`${owner} has ${name} from a source that is not known here`);
    const found = (valueFrom.secretKeyRef ? secrets : configMaps)[reference.name]?.[reference.key];
    if (found !== undefined) return [[name, found]];
    if (reference.optional) return [];
    throw new Error(`${owner} needs ${reference.key} of ${reference.name} for ${name}`);
  });
  return [...named, ...own];
}

function probe(one: Container, declared: KubernetesProbe | undefined): Probe | null {
  if (declared === undefined) return null;
  const { httpGet, periodSeconds = 10, failureThreshold = 3, timeoutSeconds = 1 } = declared;
  if (httpGet === undefined) throw new Error(`${one.name}: only probes by HTTP are known`);
  const port = one.ports?.find(({ name }) => name === httpGet.port)?.containerPort ?? httpGet.port;
  return {
    path: httpGet.path,
    port: Number(port),
    periodMs: periodSeconds * 1000,
    timeoutMs: timeoutSeconds * 1000,
    failuresMax: failureThreshold,
  };
}

function refuseUnknown(object: object, known: ReadonlySet<string>, owner: string): void {
  const unknown = Object.keys(object).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`${owner} has ${unknown.join(', ')}, which this reader does not know`);
}
