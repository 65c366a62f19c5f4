import { startTestSystem, type TestSystem } from '@wts/testkit';

let opening: Promise<TestSystem> | undefined;

/**
 * One system with two gateways, two sync replicas, a PostgreSQL server of its own with a standby, and wires, for all files that kill, cut
 * or delay them. A file starts again what it stops, and mends what it cuts.
 */
export function replicatedSystem(): Promise<TestSystem> {
  opening ??= startTestSystem({
    label: 'replicated',
    services: ['graph'],
    replicas: { sync: 2, gateway: 2 },
    standby: true,
    wires: true,
    overrides: { gateway: { RATE_LIMITS: '{"graphql": 0}' } },
  });
  return opening;
}

after(async () => {
  await (await opening)?.close();
});
