import type { MintToken, ReadToken } from '@wts/access';
import { parsePrivateKey, parsePublicKeys, tokenMinter, tokenReader } from '@wts/access';
import type { ServiceName } from '@wts/contracts';
import { makeSecrets, tokenSettings, type Secrets } from '@wts/local';

/** Those of every service that a test starts by itself. */
const SECRETS = makeSecrets();

/** The address of a service that a test does not need: no process listens there. */
export const ABSENT_SERVICE = 'http://127.0.0.1:9';

/** The lowest cost of a password hash. */
export const CHEAP_PASSWORDS = { PASSWORD_COST_LOG2: '14' } as const;

/** What a process of Node needs to start here. Without the compiled modules of other processes it compiles all of its own again. */
export function nodeEnvironment(): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH, NODE_COMPILE_CACHE, NODE_COMPILE_CACHE_PORTABLE } = process.env;
  return { PATH, LD_LIBRARY_PATH, NODE_COMPILE_CACHE, NODE_COMPILE_CACHE_PORTABLE };
}

/** What a service under test needs to call others, to be called by them, and to recognize repeated requests. */
export function tokenEnvironment(service: ServiceName): Record<string, string> {
  return { ...tokenSettings(service, SECRETS), REPLAY_SECRET: SECRETS.replaySecret };
}

/** The environment of a service under test: it logs everything, and compares every reply with its contract. */
export function serviceEnvironment(
  service: ServiceName,
  settings: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'debug',
    CHECK_REPLIES: 'on',
    ...tokenEnvironment(service),
    ...settings,
  };
}

const minters = new WeakMap<Pick<Secrets, 'serviceKeys'>, Map<string, MintToken>>();

/** Mints tokens as the service `from` does when it calls `to`. One for each route, because its cache has room for many callers. */
export function minterFor(from: ServiceName, to: string, secrets: Pick<Secrets, 'serviceKeys'> = SECRETS): MintToken {
  const made = minters.getOrInsertComputed(secrets, () => new Map());
  return made.getOrInsertComputed(`${from} ${to}`, () =>
    tokenMinter({ from, to, key: parsePrivateKey(secrets.serviceKeys[from] ?? '') }),
  );
}

/** Reads the tokens of calls to a service, in a test that stands in for it. */
export function readerFor(service: ServiceName): ReadToken {
  const { INTERNAL_TOKEN_PUBLIC_KEYS: keys = '' } = tokenSettings(service, SECRETS);
  return tokenReader(service, parsePublicKeys(keys));
}
