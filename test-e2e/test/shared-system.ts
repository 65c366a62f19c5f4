import { startTestSystem, type TestSystem } from '@wts/testkit';

const RATE_LIMITS = '{"graphql": 0, "codes-address": 0, "rest": 0, "mcp": 0}';

let opening: Promise<TestSystem> | undefined;

/**
 * One whole system for all files that only use its public interfaces and make people and workspaces of their own, because
 * starting one takes seconds. Files run one after the other, so a file may stop a part, if it starts it again also when its
 * test fails. A file that changes settings or counts what is there starts its own system.
 */
export function sharedSystem(): Promise<TestSystem> {
  opening ??= startTestSystem({
    label: 'shared',
    overrides: { gateway: { RATE_LIMITS }, workspace: { WRONG_CODES_PER_MINUTE: '0' } },
  });
  return opening;
}

after(async () => {
  await (await opening)?.close();
});
