/** A whole cluster on this machine: stores, the pods of the chart, names, and an entrance. */
import { randomBytes } from 'node:crypto';
import {
  LOCAL_JWT,
  makeAuthority,
  makeSecrets,
  seedDemo,
  UserError,
  type Authority,
  type DemoWorkspace,
  type Secrets,
} from '@wts/local';
import { Arranger, eventually, sendRequest, socketOf, type Person } from '@wts/testkit';
import type { CheckedSystem } from '@wts/verify';
import { openEntrance } from './entrance.ts';
import { Kubelet } from './kubelet.ts';
import { readManifest } from './manifest.ts';
import { serveNames } from './names.ts';
import { address, openNetwork, OWN_ADDRESS, removeAll } from './network.ts';
import { FIRST, type Place } from './place.ts';
import type { Plan, Workload } from './plan.ts';
import { Pod } from './pod.ts';
import { baseUrlOf } from './render.ts';
import { secretValues } from './secrets.ts';
import { Stores } from './stores.ts';

const AUTH_PORT = 4001;
const READY_MS = 240_000;
const LOOK_MS = 200;

export interface ClusterOptions {
  /** An image of a service; the stores run in it too. */
  readonly image: string;
  /** What the chart renders. */
  readonly render: () => Promise<string>;
  readonly print: (line: string) => void;
  readonly roles?: string | undefined;
  readonly secrets?: Secrets;
  /** Keys of the Secret besides the usual ones. */
  readonly moreSecrets?: Readonly<Record<string, string>>;
  readonly hasAuthDatabase?: boolean;
  /** Of a further cell. */
  readonly cell?: { readonly place: Place; readonly first: Cluster };
}

export class Cluster implements AsyncDisposable {
  readonly stores: Stores;
  readonly kubelet: Kubelet;
  readonly authority: Authority;
  readonly #options: ClusterOptions;
  readonly #secrets: Secrets;
  readonly #owned: AsyncDisposableStack;
  readonly #stopping: AbortController;
  readonly #watching = new Set<Promise<void>>();
  #plan: Plan = { jobs: [], deployments: [], services: [] };
  #pods: readonly Pod[] = [];
  readonly #place: Place;
  readonly #cells: Cluster[] = [this];
  #nextAddress: number;
  #nextNumber = 0;
  #demo: DemoWorkspace | null = null;

  private constructor(
    options: ClusterOptions,
    parts: { stores: Stores; secrets: Secrets; authority: Cluster['authority']; owned: AsyncDisposableStack },
  ) {
    this.#options = options;
    this.#place = options.cell?.place ?? FIRST;
    this.#nextAddress = this.#place.podsFrom;
    this.stores = parts.stores;
    this.#secrets = parts.secrets;
    this.authority = parts.authority;
    this.#owned = parts.owned;
    this.#stopping = new AbortController();
    this.kubelet = new Kubelet(this.#stopping.signal, options.print);
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    await using opening = new AsyncDisposableStack();
    const { print, cell } = options;
    if (cell === undefined) {
      await removeAll();
      await openNetwork();
      opening.defer(removeAll);
    }
    const secrets = options.secrets ?? makeSecrets();
    const stores = await Stores.open({ ...options, secrets, place: cell?.place });
    print(
      cell === undefined
        ? 'three NATS servers and PostgreSQL with a synchronous standby run'
        : 'a NATS server and a PostgreSQL of the second cell run',
    );
    const authority = cell?.first.authority ?? (await makeAuthority('Cluster'));
    const cluster = new Cluster(options, { stores, secrets, authority, owned: opening.move() });
    try {
      await cluster.#open();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  get pods(): readonly Pod[] {
    return this.#pods;
  }

  /** Those of a service, by the end of the name of its Deployment. */
  podsOf(service: string): readonly Pod[] {
    return this.#pods.filter(({ workload }) => serviceOf(workload) === service);
  }

  get services(): readonly string[] {
    return this.#plan.deployments.map(serviceOf);
  }

  get authUrl(): string {
    return `http://${OWN_ADDRESS}:${AUTH_PORT}`;
  }

  /** What writers, followers and consumers use. Calls that arrange people go to a pod that is ready. */
  system(): CheckedSystem {
    const demo = (this.#options.cell?.first ?? this).#demo;
    if (demo === null) throw new Error('the cluster has no demo workspace yet');
    const { stores } = this;
    const baseUrl = baseUrlOf(this.#place);
    const jwt = { ...LOCAL_JWT, secret: this.#secrets.jwtSecret };
    const urlOf = (service: string): string =>
      service === 'auth' ? (this.#options.cell?.first ?? this).#urlOf(service) : this.#urlOf(service);
    const arranger = new Arranger({ urlOf, secrets: this.#secrets, jwt });
    return {
      baseUrl,
      apiKey: demo.apiKey,
      userId: demo.userId,
      workspaceId: demo.workspaceId,
      database: {
        get url() {
          return stores.database.adminUrl;
        },
      },
      nats: { url: stores.natsUrlOf('verify', 'addresses') },
      shard: this.#place.shard,
      request: (token, method, path, content) => sendRequest({ baseUrl, token }, method, path, content),
      socket: (options) => socketOf({ baseUrl }, { token: demo.apiKey, ...options }),
      commit: (mutations) => arranger.commit(mutations),
      person: (name, claims): Promise<Person> => arranger.person(name, claims),
      untilReady: () => this.untilReady(),
      member: (name, role, workspaceId) => arranger.member(name, role ?? 'member', workspaceId ?? demo.workspaceId),
    };
  }

  async untilReady(): Promise<void> {
    await eventually(() => this.#pods.every(({ isReady }) => isReady), {
      deadlineMs: READY_MS,
      everyMs: LOOK_MS,
    }).catch((cause: unknown) => {
      const others = this.#pods.filter(({ isReady }) => !isReady).map(({ name }) => name);
      throw new UserError(`${others.join(', ')} did not become ready; their logs are in .local/cluster/logs.`, {
        cause,
      });
    });
  }

  /** Replaces each pod of a service by a new one, as a rolling update does: one more at first, none less. */
  async replace(service: string, workload?: Workload): Promise<void> {
    for (const old of this.podsOf(service)) {
      const pod = await this.#startPod(workload ?? old.workload);
      await eventually(() => pod.isReady, { deadlineMs: READY_MS, everyMs: LOOK_MS });
      await old.stop();
      this.#pods = this.#pods.filter((one) => one !== old);
      old[Symbol.dispose]();
    }
  }

  /** Runs the migrations of another version. Resolves to how its pods are, by service. */
  async migrateTo(manifest: string): Promise<ReadonlyMap<string, Workload>> {
    const plan = this.#read(manifest);
    await this.#complete(plan);
    return new Map(plan.deployments.map((one) => [serviceOf(one), one]));
  }

  /** How the pods are now, by service. */
  workloads(): ReadonlyMap<string, Workload> {
    return new Map(this.#pods.map(({ workload }) => [serviceOf(workload), workload]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#watching);
    await this.#owned.disposeAsync();
  }

  async #open(): Promise<void> {
    const { print, render } = this.#options;
    const { cell } = this.#options;
    if (cell === undefined) this.#owned.use(await serveNames(OWN_ADDRESS, (name) => this.#addressesInAll(name)));
    else cell.first.#cells.push(this);
    this.#plan = this.#read(await render());
    await this.#complete(this.#plan);
    await Promise.all(
      this.#plan.deployments.flatMap((one) => Array.from({ length: one.replicas }, () => this.#startPod(one))),
    );
    const addresses = (): string[] =>
      this.podsOf('gateway')
        .filter(({ isReady }) => isReady)
        .map((pod) => pod.address);
    const { apiPort } = this.#place;
    this.#owned.use(await openEntrance({ host: OWN_ADDRESS, port: apiPort, podPort: FIRST.apiPort, addresses }));
    if (cell === undefined) this.#owned.use(await openEntrance({ host: OWN_ADDRESS, port: AUTH_PORT, addresses }));
    await this.untilReady();
    print(`${this.#pods.length} pods are ready`);
    if (cell !== undefined) return;
    this.#demo = await seedDemo({
      env: { ...process.env, PASSWORD_COST_LOG2: '14' },
      secrets: this.#secrets,
      urlOf: this.stores.database.urlOf,
      syncUrls: this.#urlOf('sync'),
      password: randomBytes(12).toString('base64url'),
    });
  }

  #read(manifest: string): Plan {
    return readManifest(
      manifest,
      secretValues(this.#secrets, this.stores, this.authority.certificate, this.#options.moreSecrets),
    );
  }

  async #complete({ jobs }: Plan): Promise<void> {
    for (const job of jobs) {
      using pod = this.#newPod(job);
      await pod.complete();
      this.#options.print(`${job.name} is complete`);
    }
  }

  async #startPod(workload: Workload): Promise<Pod> {
    const pod = this.#newPod(workload);
    await pod.start();
    this.#pods = [...this.#pods, pod];
    const watching = this.kubelet.watch(pod);
    this.#watching.add(watching);
    void watching.finally(() => this.#watching.delete(watching));
    return pod;
  }

  #newPod(workload: Workload): Pod {
    const used = new Set(this.#pods.map((pod) => pod.address));
    do {
      this.#nextAddress = this.#nextAddress === this.#place.podsTo ? this.#place.podsFrom : this.#nextAddress + 1;
    } while (used.has(address(this.#nextAddress)));
    this.#nextNumber += 1;
    return new Pod(workload, `${workload.name}-${this.#nextNumber}`, address(this.#nextAddress));
  }

  #addressesInAll(name: string): readonly string[] | undefined {
    return this.#cells.map((cell) => cell.#addressesOf(name)).find((found) => found !== undefined);
  }

  /** Undefined: there is no such name. */
  #addressesOf(name: string): readonly string[] | undefined {
    if (name === this.stores.primaryName) return [this.stores.primaryAddress];
    if (name === this.stores.standbyName) return this.stores.standbyAddresses;
    const nats = this.stores.natsAddresses[this.stores.natsNames.indexOf(name)];
    if (nats !== undefined) return [nats];
    const service = this.#plan.services.find((one) => one.name === name);
    if (service === undefined) return undefined;
    const wanted = Object.entries(service.selector);
    return this.#pods
      .filter(({ isReady, workload: { labels } }) => isReady && wanted.every(([key, value]) => labels[key] === value))
      .map((pod) => pod.address);
  }

  #urlOf(service: string): string {
    const ready = this.podsOf(service).find(({ isReady }) => isReady) ?? this.podsOf(service)[0];
    const port = ready?.workload.main.env.find(([name]) => name === 'PORT')?.[1];
    return `http://${ready?.address}:${typeof port === 'string' ? port : ''}`;
  }
}

function serviceOf({ labels, name }: Workload): string {
  return labels['app.kubernetes.io/component'] ?? name;
}
