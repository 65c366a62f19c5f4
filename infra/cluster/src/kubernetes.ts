/** The parts of the objects of Kubernetes that this cluster reads. */
export interface Meta {
  readonly name: string;
  readonly labels?: Labels;
}

type Labels = Readonly<Record<string, string>>;

export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: Meta;
  readonly spec?: {
    readonly replicas?: number;
    readonly minReplicas?: number;
    readonly scaleTargetRef?: Meta;
    readonly selector?: Labels;
    readonly template?: { readonly metadata?: { readonly labels?: Labels }; readonly spec: PodSpec };
  };
  readonly data?: Labels;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly securityContext?: SecurityContext;
  readonly terminationGracePeriodSeconds?: number;
}

interface SecurityContext {
  readonly runAsUser?: number;
  readonly readOnlyRootFilesystem?: boolean;
  readonly capabilities?: { readonly drop?: readonly string[] };
}

export interface Container extends Meta {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly Variable[];
  readonly envFrom?: readonly { readonly secretRef?: Meta; readonly configMapRef?: Meta }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources?: { readonly limits?: { readonly memory?: string } };
  readonly securityContext?: SecurityContext;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe?: KubernetesProbe;
  readonly readinessProbe?: KubernetesProbe;
  readonly livenessProbe?: KubernetesProbe;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: KeyReference;
    readonly configMapKeyRef?: KeyReference;
  };
}

interface KeyReference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: object;
  readonly secret?: VolumeSource & { readonly secretName: string };
  readonly configMap?: VolumeSource & Meta;
}

interface VolumeSource {
  readonly optional?: boolean;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

export interface KubernetesProbe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
  readonly timeoutSeconds?: number;
}
