import { parseAllDocuments } from 'yaml';

/** The parts of an object of Kubernetes that the checks read. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
  readonly spec?: {
    readonly template?: { readonly metadata?: { readonly labels?: Labels }; readonly spec: PodSpec };
  } & Record<string, unknown>;
}

export type Labels = Readonly<Record<string, string>>;

export interface PodSpec {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext?: SecurityContext;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number; readonly hostPort?: number }[];
  readonly securityContext?: SecurityContext;
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
  };
}

export interface SecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly procMount?: string;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type?: string };
  readonly appArmorProfile?: { readonly type?: string };
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string };
  readonly sysctls?: readonly { readonly name: string }[];
  readonly windowsOptions?: { readonly hostProcess?: boolean };
}

export function parseObjects(rendered: string): readonly KubernetesObject[] {
  return parseAllDocuments(rendered)
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0] ?? new Error('no YAML');
      return document.toJS() as KubernetesObject | null;
    })
    .filter((one) => one !== null);
}

/** The pod of an object that has one. */
export function podOf({ kind, spec }: KubernetesObject): PodSpec | null {
  if (kind === 'Pod') return spec as unknown as PodSpec;
  return spec?.template?.spec ?? null;
}

export function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}
