import { Refusal, textOf } from '../refusal.ts';
import { NATS_VERSION_MIN, isOldNats } from './nats-program.ts';

const CONNECT_MS = 5_000;

/** Whether a NATS server of one's own will do, judged before any service relies on it. Returns its version. */
export async function checkNats(natsUrl: string): Promise<string> {
  // Loaded here only: the usual start has no use for the client.
  const { connect } = await import('nats');
  const urls = parse(natsUrl);
  const [{ host, protocol, username, password }] = urls;
  const credentials = username === '' ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const servers = urls.map((url) => url.host);
  const tls = protocol === 'tls:' ? { tls: {} } : {};
  const connection = await connect({ servers, timeout: CONNECT_MS, reconnect: false, ...credentials, ...tls }).catch(
    (error: unknown) => {
      throw new Refusal(
        `The NATS server at ${host} (NATS_URL) cannot be used: ${textOf(error)}.\nStart it, correct NATS_URL, or unset it to use the server that comes with the dependencies.`,
      );
    },
  );
  try {
    const version = connection.info?.version ?? '0.0.0';
    if (isOldNats(version))
      throw new Refusal(`The NATS server at ${host} is version ${version}; ${NATS_VERSION_MIN} or newer is needed.`);
    await connection.jetstreamManager().catch((error: unknown) => {
      throw new Refusal(
        `The NATS server at ${host} has no JetStream for this account (${textOf(error)}): start it with -js.`,
      );
    });
    return version;
  } finally {
    await connection.close();
  }
}

/** As the services read it: without a protocol they would not start. */
function parse(text: string): [URL, ...URL[]] {
  const addresses = text.split(',').filter((address) => address.trim() !== '');
  const urls = addresses.flatMap((address) => URL.parse(address.trim()) ?? []);
  const [first, ...others] = urls.filter(({ protocol }) => protocol === 'nats:' || protocol === 'tls:');
  if (first && 1 + others.length === addresses.length) return [first, ...others];
  throw new Refusal(
    'NATS_URL is not a NATS URL. Write it as nats://127.0.0.1:4222; separate several addresses of one cluster by commas.',
  );
}
