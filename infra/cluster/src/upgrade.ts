/**
 * An upgrade without a stop, under load: each service of the old version is restarted one pod after the other; the migrations of the
 * new version run while all pods are old; each service is replaced by the new version, and then by the old one again, whose
 * pods now work on the schema of the new version. Nothing may be lost, and a change may only be refused with 503 and Retry-After.
 */
import { connectTo } from '@wts/testkit';
import {
  ControlClient,
  controlText,
  keepWriting,
  lostOrDoubled,
  ownerElsewhere,
  StormClients,
  type CheckedSystem,
  type Written,
} from '@wts/verify';
import type { Cluster } from './cluster.ts';
import type { Workload } from './plan.ts';
import { verifyLog } from './verify-log.ts';

const SOCKETS = 500;
/** Each change of a workspace goes to a part of the sockets, as in any company. */
const WORKSPACES = 10;
const PEOPLE = 5;
/** Of each workspace, and each writes so often: 200 changes a second together. */
const WRITERS = 5;
const WRITE_EVERY_MS = 250;

export interface UpgradeOptions {
  /** What the chart renders with the images of the new version. */
  readonly manifest: string;
  readonly print: (line: string) => void;
  readonly stop: AbortSignal;
}

/** Resolves to whether nothing was lost. */
export async function upgradeCluster(cluster: Cluster, options: UpgradeOptions): Promise<boolean> {
  const { manifest, print, stop } = options;
  const system = cluster.system();
  await using stack = new AsyncDisposableStack();
  const control = stack.use(await ControlClient.start(system));
  const workspaces = await Promise.all(Array.from({ length: WORKSPACES }, (_, index) => makeWorkspace(system, index)));
  const storms: StormClients[] = [];
  for (const workspace of workspaces) {
    const clients = { clients: SOCKETS / WORKSPACES, people: PEOPLE, reloadOneIn: SOCKETS };
    storms.push(stack.use(await StormClients.open(workspace, clients)));
  }
  const writing = new AbortController();
  const acknowledged: Map<string, { modelId: string; syncId: string }> = new Map();
  const writers = workspaces.map((workspace) =>
    keepWriting(workspace, WRITERS, AbortSignal.any([writing.signal, stop]), {
      everyMs: () => WRITE_EVERY_MS,
      onAcknowledged: ({ clientTxId, ...answer }) => acknowledged.set(clientTxId, answer),
    }),
  );
  print(
    `${SOCKETS} sockets of ${WORKSPACES} workspaces, ${(WORKSPACES * WRITERS * 1000) / WRITE_EVERY_MS} changes a second`,
  );
  const problems: string[] = [];
  const phase = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    if (stop.aborted) return;
    const startedMs = performance.now();
    const before = acknowledged.size;
    const measured = control.write(system.baseUrl);
    await work();
    const result = await measured.stop();
    problems.push(...result.failures.map((text) => `${name}: ${text}`));
    const seconds = (performance.now() - startedMs) / 1000;
    const rate = ((acknowledged.size - before) / seconds).toFixed(0);
    print(`${name}: ${seconds.toFixed(0)} s, ${rate} changes/s; one person: ${controlText(result)}`);
  };
  const rolling = async (
    what: string,
    workloads?: ReadonlyMap<string, Workload>,
    services = cluster.services,
  ): Promise<void> => {
    for (const service of services)
      await phase(`${what} of ${service}`, () => cluster.replace(service, workloads?.get(service)));
  };

  const old = cluster.workloads();
  await rolling('restart');
  let next: ReadonlyMap<string, Workload> = new Map();
  await phase('migrations, all pods old', async () => {
    next = await cluster.migrateTo(manifest);
  });
  await rolling('new version', next);
  // A new service may need what another new one answers, so that one goes back last.
  await rolling('old version again', old, cluster.services.toReversed());

  writing.abort();
  const retries = (await Promise.all(writers)).reduce((sum, one) => sum + one.retries, 0);
  if (stop.aborted) return false;
  for (const storm of storms)
    problems.push(...(await storm.settle()).map(({ guarantee, seen }) => `${guarantee}: ${seen}`));
  problems.push(...(await lostIn(system, { acknowledged, retries })));
  problems.push(...cluster.kubelet.incidents.map(({ pod, what }) => `${pod}: ${what}`));
  const isLogSound = await verifyLog(system, print);
  print(`${acknowledged.size} changes acknowledged, ${retries} sent again, all ${SOCKETS} sockets audited`);
  for (const problem of problems) print(`BROKEN     ${problem}`);
  const isPassed = problems.length === 0 && isLogSound;
  print(isPassed ? 'PASSED' : 'FAILED');
  return isPassed;
}

/** The system as the owner of a workspace of its own sees it. */
async function makeWorkspace(system: CheckedSystem, index: number): Promise<CheckedSystem> {
  const { userId, token, workspaceId } = await ownerElsewhere(system, `Owner ${index + 1}`);
  return {
    ...system,
    workspaceId,
    apiKey: token,
    userId,
    member: (name, role) => system.member(name, role, workspaceId),
  };
}

async function lostIn(system: CheckedSystem, written: Written): Promise<string[]> {
  await using client = await connectTo(system.database.url);
  return await lostOrDoubled(client, written);
}
