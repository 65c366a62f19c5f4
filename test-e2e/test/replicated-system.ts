import { startTestSystem, type TestSystem } from '@wts/testkit';

let opening: Promise<TestSystem> | undefined;

/**
 * One system with two gateways, two sync replicas, a PostgreSQL server of its own and wires for all files that kill or cut them. A file
 * starts again what it stops, and mends what it cuts.
 */
export function replicatedSystem(): Promise<TestSystem> {
  opening ??= startTestSystem({
    label: 'replicated',
    services: [],
    syncReplicas: 2,
    gatewayReplicas: 2,
    ownPostgres: true,
    wires: true,
  });
  return opening;
}

after(async () => {
  await (await opening)?.close();
});
