import { UserError, textOf } from '../user-error.ts';
import { NATS_VERSION_MIN, isOldNats } from './nats-program.ts';

const CONNECT_MS = 5_000;

/** Checks the NATS server at NATS_URL before services use it. Resolves to its version. */
export async function checkNats(natsUrl: string): Promise<string> {
  // Imported here, because a start without NATS_URL does not need the client.
  const { connect } = await import('nats');
  const urls = parse(natsUrl);
  const [{ host, protocol, username, password }] = urls;
  const credentials = username === '' ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const servers = urls.map((url) => url.host);
  const tls = protocol === 'tls:' ? { tls: {} } : {};
  const connection = await connect({ servers, timeout: CONNECT_MS, reconnect: false, ...credentials, ...tls }).catch(
    (error: unknown) => {
      throw new UserError(
        `The NATS server at ${host} (NATS_URL) cannot be used: ${textOf(error)}.\nStart it, correct NATS_URL, or unset NATS_URL to use the included server.`,
      );
    },
  );
  try {
    const version = connection.info?.version ?? '0.0.0';
    if (isOldNats(version))
      throw new UserError(
        `The NATS server at ${host} has version ${version}, but ${NATS_VERSION_MIN} or newer is needed.`,
      );
    await connection.jetstreamManager().catch((error: unknown) => {
      throw new UserError(
        `The NATS server at ${host} has no JetStream for this account (${textOf(error)}). Start it with -js.`,
      );
    });
    return version;
  } finally {
    await connection.close();
  }
}

/** Parses NATS_URL as the services do, which do not start with an address without a protocol. */
function parse(text: string): [URL, ...URL[]] {
  const addresses = text.split(',').filter((address) => address.trim() !== '');
  const urls = addresses.flatMap((address) => URL.parse(address.trim()) ?? []);
  const [first, ...others] = urls.filter(({ protocol }) => protocol === 'nats:' || protocol === 'tls:');
  if (first && 1 + others.length === addresses.length) return [first, ...others];
  throw new UserError(
    'NATS_URL is not a NATS URL. Example: nats://127.0.0.1:4222. Separate the addresses of a cluster with commas.',
  );
}
