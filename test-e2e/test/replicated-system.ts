import { startTestSystem, type TestSystem } from '@wts/testkit';

let opening: Promise<TestSystem> | undefined;

/**
 * One system with two gateways, two sync replicas and a PostgreSQL server of its own for all files that kill them. A file starts again
 * what it stops.
 */
export function replicatedSystem(): Promise<TestSystem> {
  opening ??= startTestSystem({
    label: 'replicated',
    services: [],
    syncReplicas: 2,
    gatewayReplicas: 2,
    ownPostgres: true,
  });
  return opening;
}

after(async () => {
  await (await opening)?.close();
});
