import type { Container, PodSpec, SecurityContext } from './objects.ts';

/** Kubernetes Pod Security Standards, level "restricted" (which contains "baseline"), of 1.35. */
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
];
const PROFILES = ['RuntimeDefault', 'Localhost'];
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];

/** What a cluster that enforces "restricted" refuses of a pod. */
export function violations(pod: PodSpec): readonly string[] {
  const containers = [...(pod.initContainers ?? []), ...pod.containers, ...(pod.ephemeralContainers ?? [])];
  return [...ofPod(pod), ...containers.flatMap((one) => ofContainer(one, pod.securityContext ?? {}))];
}

function ofPod({ securityContext = {}, volumes = [], ...pod }: PodSpec): string[] {
  const hosts = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => pod[field] === true);
  const odd = volumes.flatMap((volume) =>
    Object.keys(volume).filter((key) => key !== 'name' && !VOLUMES.includes(key)),
  );
  const sysctls = (securityContext.sysctls ?? []).filter(({ name }) => !SYSCTLS.includes(name));
  return [
    ...hosts.map((field) => `${field} is set`),
    ...odd.map((type) => `a volume is of type ${type}`),
    ...sysctls.map(({ name }) => `sysctl ${name} is set`),
    ...ofBoth(securityContext).map((problem) => `the pod ${problem}`),
  ];
}

function ofContainer({ name, securityContext: own = {}, ports = [] }: Container, pod: SecurityContext): string[] {
  const { capabilities = {} } = own;
  const added = (capabilities.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE');
  const rules: readonly (readonly [boolean, string])[] = [
    [own.privileged !== true, 'is privileged'],
    [own.allowPrivilegeEscalation === false, 'may escalate privileges'],
    [capabilities.drop?.includes('ALL') === true, 'does not drop all capabilities'],
    [added.length === 0, `adds capabilities: ${added.join(', ')}`],
    [own.procMount === undefined || own.procMount === 'Default', 'has another procMount'],
    [ports.every(({ hostPort = 0 }) => hostPort === 0), 'has a port of the host'],
    [own.runAsNonRoot ?? pod.runAsNonRoot ?? false, 'may run as root'],
    [PROFILES.includes((own.seccompProfile ?? pod.seccompProfile)?.type ?? ''), 'has no seccomp profile'],
  ];
  return [...rules.flatMap(([isKept, problem]) => (isKept ? [] : [problem])), ...ofBoth(own)].map(
    (problem) => `container ${name} ${problem}`,
  );
}

/** Fields that a pod and a container have. */
function ofBoth({
  runAsUser,
  appArmorProfile,
  seLinuxOptions = {},
  windowsOptions = {},
  seccompProfile,
}: SecurityContext): string[] {
  const { type = '', user = '', role = '' } = seLinuxOptions;
  const rules: readonly (readonly [boolean, string])[] = [
    [runAsUser !== 0, 'runs as user 0'],
    [seccompProfile === undefined || PROFILES.includes(seccompProfile.type ?? ''), 'turns seccomp off'],
    [appArmorProfile === undefined || PROFILES.includes(appArmorProfile.type ?? ''), 'turns AppArmor off'],
    [SELINUX_TYPES.includes(type) && user === '' && role === '', 'changes SELinux'],
    [windowsOptions.hostProcess !== true, 'is a host process'],
  ];
  return rules.flatMap(([isKept, problem]) => (isKept ? [] : [problem]));
}
