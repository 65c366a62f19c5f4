import { freePort } from '@wts/local';
import { startTestSystem, testAuthority, type TestAuthority, type TestSystem } from '@wts/testkit';

const RATE_LIMITS = '{"graphql": 0, "codes-address": 0, "rest": 0, "mcp": 0, "credentials": 0}';

export interface SharedSystem {
  readonly testSystem: TestSystem;
  /** Issues certificates that the dispatcher of webhooks trusts. It repeats a delivery after a second. */
  readonly authority: TestAuthority;
  /** An origin at a free port of this machine, whose pages may call the API. */
  readonly webOrigin: string;
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
  const testSystem = await startTestSystem({
    label: 'shared',
    overrides: {
      gateway: { RATE_LIMITS, CORS_ORIGINS: webOrigin, GRAPHIQL: 'on' },
      workspace: { WRONG_CODES_PER_MINUTE: '0' },
      'webhook-dispatcher': webhooks,
    },
  });
  return { testSystem, authority, webOrigin };
}

after(async () => {
  await (await opening)?.testSystem.close();
});
