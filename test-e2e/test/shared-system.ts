import { freePort, SERVICES } from '@wts/local';
import {
  receiver,
  startTestSystem,
  testAuthority,
  type Receiver,
  type TestAuthority,
  type TestSystem,
} from '@wts/testkit';
import { IdentityProvider } from './identity-provider.ts';

const RATE_LIMITS = '{"graphql": 0, "codes-address": 0, "rest": 0, "mcp": 0, "credentials": 0}';

export interface SharedSystem {
  readonly testSystem: TestSystem;
  /** Issues certificates that the dispatcher of webhooks trusts. It repeats a delivery after a second. */
  readonly authority: TestAuthority;
  /** An origin at a free port of this machine, whose pages may call the API. */
  readonly webOrigin: string;
  /** Gets the traces of requests whose `traceparent` has the flag that they are recorded, and no others. */
  readonly traces: Receiver;
  readonly metricsUrlOf: (service: string) => string;
  /** Its people have access as soon as a test starts it. */
  readonly provider: IdentityProvider;
}

let opening: Promise<SharedSystem> | undefined;

/**
 * One whole system for all files that only use its public interfaces and make people and workspaces of their own, because
 * starting one takes seconds. Files run one after the other, so a file may stop a part, if it starts it again also when its
 * test fails. A file that changes settings or counts what is there starts its own system.
 */
export function openShared(): Promise<SharedSystem> {
  return (opening ??= open());
}

export async function sharedSystem(): Promise<TestSystem> {
  return (await openShared()).testSystem;
}

async function open(): Promise<SharedSystem> {
  const authority = await testAuthority();
  const webOrigin = `http://127.0.0.1:${await freePort()}`;
  const webhooks = { WEBHOOK_EXTRA_CA_FILE: authority.caFile, WEBHOOK_RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s,1s' };
  const traces = await receiver();
  traces.answer({ status: 200, body: '{}' });
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: traces.url };
  const metricsPorts = new Map<string, number>();
  for (const { name } of SERVICES) metricsPorts.set(name, await freePort());
  const metered = (name: string) => ({ ...traced, METRICS_PORT: String(metricsPorts.get(name)) });
  const provider = await IdentityProvider.plan([]);
  const deciding = { OTEL_TRACES_SAMPLER: 'parentbased_always_off', TRACE_PARENTS: '127.0.0.1' };
  const testSystem = await startTestSystem({
    label: 'shared',
    issuers: [provider.configuration],
    overrides: {
      ...Object.fromEntries([...metricsPorts.keys()].map((name) => [name, metered(name)])),
      gateway: { ...metered('gateway'), ...deciding, RATE_LIMITS, CORS_ORIGINS: webOrigin, GRAPHIQL: 'on' },
      workspace: { ...metered('workspace'), WRONG_CODES_PER_MINUTE: '0' },
      'webhook-dispatcher': { ...metered('webhook-dispatcher'), ...webhooks },
    },
  });
  const metricsUrlOf = (name: string): string => `http://127.0.0.1:${metricsPorts.get(name)}/metrics`;
  return { testSystem, authority, webOrigin, traces, metricsUrlOf, provider };
}

after(async () => {
  const shared = await opening;
  await shared?.testSystem.close();
  await shared?.traces[Symbol.asyncDispose]();
});
