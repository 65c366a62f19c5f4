/** What runs in a cluster. */
export interface Plan {
  readonly jobs: readonly Workload[];
  readonly deployments: readonly Workload[];
  readonly services: readonly { readonly name: string; readonly selector: Readonly<Record<string, string>> }[];
}

export interface Workload {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly graceSeconds: number;
  readonly init: readonly ContainerPlan[];
  readonly main: ContainerPlan;
}

export interface ContainerPlan {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** A field is one of the pod, known when it starts. */
  readonly env: readonly (readonly [string, string | { readonly field: string }])[];
  /** Empty: no limit. */
  readonly memory: string;
  readonly user: number | undefined;
  readonly isReadOnly: boolean;
  readonly dropsAll: boolean;
  readonly temporary: readonly string[];
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly readiness: Probe | null;
  readonly liveness: Probe | null;
}

export interface Probe {
  readonly path: string;
  readonly port: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly failuresMax: number;
}
