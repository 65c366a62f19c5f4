/** The secret of internal tokens in the environment of `serviceEnvironment`. */
export const TEST_SECRET = 'a secret of thirty-two characters or more';

/** The address of a service that a test does not need: no process listens there. */
export const ABSENT_SERVICE = 'http://127.0.0.1:9';

/** The lowest cost of a password hash. */
export const CHEAP_PASSWORDS = { PASSWORD_COST_LOG2: '14' } as const;

/** The environment of a service under test: it logs everything, and compares every reply with its contract. */
export function serviceEnvironment(settings: Readonly<Record<string, string>>): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'debug',
    INTERNAL_TOKEN_SECRET: TEST_SECRET,
    CHECK_REPLIES: 'on',
    ...settings,
  };
}
