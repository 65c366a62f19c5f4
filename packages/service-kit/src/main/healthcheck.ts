import { get } from 'node:http';
import { localHost } from '../config/local-host.ts';
import { defineSettings, parseSettings, setting, type Environment } from '../config/settings.ts';
import { SetupError } from '../config/setup-error.ts';

/** Longer than /ready may take. */
const TIMEOUT_MS = 5_000;
const PATHS = { live: '/health', ready: '/ready' } as const;

/** The two that the service reads too, without the rest, because a container may be checked every few seconds. */
const settings = defineSettings({
  host: setting.text('HOST', { default: '127.0.0.1', doc: 'Address that the service listens on.' }),
  port: setting.port('PORT', { doc: 'Port that the service listens on; a check must be told it.' }),
});

/** Requests `/health` or `/ready` of the service that runs here. Throws a SetupError when it is not. */
export async function healthcheck(what: keyof typeof PATHS, env: Environment): Promise<void> {
  const { host, port } = parseSettings(settings, env);
  const url = `http://${localHost(host)}:${port}${PATHS[what]}`;
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  get(url, { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, (reply) => {
    reply.resume();
    resolve(reply.statusCode);
  }).on('error', reject);
  const status = await promise.catch((cause: unknown) => {
    throw new SetupError(`${url} does not answer: ${String(cause)}`, { cause });
  });
  if (status !== 200) throw new SetupError(`${url} answered ${status}.`);
}
