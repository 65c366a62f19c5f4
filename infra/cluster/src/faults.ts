/** The faults of a run: one a minute, until each kind has come and the time is over. */
import { setTimeout as pause } from 'node:timers/promises';
import { STREAM } from '@wts/contracts';
import { connectToBroker } from '@wts/verify';
import type { Cluster } from './cluster.ts';
import type { Pod } from './pod.ts';

const DISPATCHER = 'webhook-dispatcher';

export interface Fault {
  readonly name: string;
  /** True: a webhook whose outcome it loses may be delivered once more. */
  readonly repeatsWebhooks?: boolean;
  readonly run: () => Promise<void>;
}

/** Longer than a service takes to see that a connection to NATS is frozen, shorter than liveness takes to restart a pod. */
const FROZEN_MS = 20_000;
const CUT_MS = 20_000;
const DOWN_MS = 12_000;

/** Each kind early, because a short run ends before the list does. */
export function faultsOf(cluster: Cluster): readonly Fault[] {
  const { stores } = cluster;
  const leader = (): Promise<number> => leaderOf(cluster);
  const next = (index: number): number => (index + 1) % stores.natsNames.length;
  return [
    kill(cluster, 'sync'),
    loseNats(cluster, 'the leader of the stream is lost', async () => [await leader()]),
    freeze(cluster, 'gateway'),
    cut(cluster, 'sync', 'PostgreSQL'),
    promote(cluster),
    kill(cluster, 'gateway'),
    loseNats(cluster, 'two of three NATS servers are lost', async () => {
      const first = await leader();
      return [first, next(first)];
    }),
    replace(cluster, 'webhook-dispatcher'),
    cut(cluster, 'sync', 'NATS'),
    kill(cluster, 'auth'),
    loseNats(cluster, 'all NATS servers are lost', async () => [...stores.natsNames.keys()]),
    freeze(cluster, 'sync'),
    kill(cluster, 'webhook-dispatcher'),
    cut(cluster, 'webhook-dispatcher', 'PostgreSQL'),
    promote(cluster),
    replace(cluster, 'sync'),
    kill(cluster, 'workspace'),
    freeze(cluster, 'webhook-dispatcher'),
    cut(cluster, 'gateway', 'NATS'),
    replace(cluster, 'gateway'),
    kill(cluster, 'graph'),
    kill(cluster, 'agent'),
    cut(cluster, 'auth', 'PostgreSQL'),
  ];
}

function kill(cluster: Cluster, service: string): Fault {
  return {
    name: `a pod of ${service} is killed`,
    repeatsWebhooks: service === DISPATCHER,
    run: async () => anyPod(cluster, service).kill(),
  };
}

function freeze(cluster: Cluster, service: string): Fault {
  return {
    name: `a pod of ${service} is frozen`,
    repeatsWebhooks: service === DISPATCHER,
    run: async () => {
      const pod = anyPod(cluster, service);
      await pod.freeze();
      await pause(FROZEN_MS);
      // Liveness may have restarted it.
      if (pod.disturbed === 'frozen') await pod.thaw();
    },
  };
}

function cut(cluster: Cluster, service: string, store: 'NATS' | 'PostgreSQL'): Fault {
  return {
    name: `a pod of ${service} loses ${store}`,
    repeatsWebhooks: service === DISPATCHER,
    run: async () => {
      const { natsAddresses, postgresAddresses } = cluster.stores;
      const pod = anyPod(cluster, service);
      await pod.partition(store === 'NATS' ? natsAddresses : postgresAddresses);
      await pause(CUT_MS);
      await pod.heal();
    },
  };
}

function replace(cluster: Cluster, service: string): Fault {
  return {
    name: `rolling restart of ${service}`,
    repeatsWebhooks: service === DISPATCHER,
    run: () => cluster.replace(service),
  };
}

function loseNats({ stores }: Cluster, name: string, which: () => Promise<readonly number[]>): Fault {
  return {
    name,
    run: async () => {
      const lost = await which();
      await Promise.all(lost.map((index) => stores.killNats(index)));
      await pause(DOWN_MS);
      await Promise.all(lost.map((index) => stores.startNats(index)));
    },
  };
}

function promote({ stores }: Cluster): Fault {
  return {
    name: 'the primary of PostgreSQL is killed, and its standby promoted',
    repeatsWebhooks: true,
    run: async () => {
      await stores.promote();
      await stores.addStandby();
    },
  };
}

function anyPod(cluster: Cluster, service: string): Pod {
  const pods = cluster.podsOf(service);
  const chosen = pods[Math.floor(Math.random() * pods.length)];
  if (chosen === undefined) throw new Error(`no pod of ${service} runs`);
  return chosen;
}

async function leaderOf({ stores }: Cluster): Promise<number> {
  await using nc = await connectToBroker(stores.natsUrlOf('verify', 'addresses'));
  const { cluster } = await (await nc.jetstreamManager({ checkAPI: false })).streams.info(STREAM.name);
  return Math.max(0, stores.natsNames.indexOf(cluster?.leader ?? ''));
}
