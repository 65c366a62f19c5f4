import { Refusal, textOf } from '../refusal.ts';
import { NATS_VERSION_MIN, isOldNats } from './nats-program.ts';

const CONNECT_MS = 5_000;

/** Whether a NATS server of one's own will do, judged before any service relies on it. Returns its version. */
export async function checkNats(natsUrl: string): Promise<string> {
  // Loaded here only: the usual start has no use for the client.
  const { connect } = await import('nats');
  const url = parse(natsUrl);
  const credentials =
    url.username === '' ? {} : { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) };
  const connection = await connect({ servers: url.host, timeout: CONNECT_MS, reconnect: false, ...credentials }).catch(
    (error: unknown) => {
      throw new Refusal(
        `The NATS server at ${url.host} (NATS_URL) cannot be used: ${textOf(error)}.\nStart it, correct NATS_URL, or unset it to use the server that comes with the dependencies.`,
      );
    },
  );
  try {
    const version = connection.info?.version ?? '0.0.0';
    if (isOldNats(version))
      throw new Refusal(
        `The NATS server at ${url.host} is version ${version}; ${NATS_VERSION_MIN} or newer is needed.`,
      );
    await connection.jetstreamManager().catch((error: unknown) => {
      throw new Refusal(
        `The NATS server at ${url.host} has no JetStream for this account (${textOf(error)}): start it with -js.`,
      );
    });
    return version;
  } finally {
    await connection.close();
  }
}

function parse(text: string): URL {
  try {
    return new URL(text.includes('://') ? text : `nats://${text}`);
  } catch {
    throw new Refusal(`NATS_URL is no URL: ${JSON.stringify(text)}. An example: nats://127.0.0.1:4222.`);
  }
}
