import { Client } from 'pg';

export interface Lease extends AsyncDisposable {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
}

interface LeaseOptions {
  readonly url: string;
  /** Names the lock among all advisory locks of the database. */
  readonly key: number;
  readonly name: string;
  readonly logger: { warn(fields: object, text: string): void };
  /** The server ends the session, and with it the lease, after this long without a sign of life. */
  readonly silenceMaxMs?: number;
}

const SILENCE_MAX_MS = 4_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A lease is a session-level advisory lock on a connection of its own: PostgreSQL gives it to one session and takes it
 * back when the session ends, however it ends. A holder that is stopped, or whose host lost its network, keeps its
 * connection open, so the server ends the session after a time without a query, and the holder sends one now and then.
 *
 * A holder notices a moment later that its lease is lost, so what it does under the lease must be harmless in that moment.
 *
 * Returns null when another session holds the lease. Throws when PostgreSQL does not answer.
 */
export async function tryLease(options: LeaseOptions): Promise<Lease | null> {
  const { url, key, name, logger, silenceMaxMs = SILENCE_MAX_MS } = options;
  const client = new Client({
    connectionString: url,
    application_name: name,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: silenceMaxMs,
  });
  const lost = new AbortController();
  client.on('error', (error) => {
    if (!lost.signal.aborted) logger.warn({ err: error, lease: name }, 'the lease is lost');
    lost.abort();
  });
  client.on('end', () => lost.abort());
  try {
    await client.connect();
    await client.query(`set idle_session_timeout = ${silenceMaxMs}`);
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [key]);
    if (rows[0]?.held !== true) {
      await client.end();
      return null;
    }
  } catch (error) {
    lost.abort();
    await client.end().catch(() => undefined);
    throw error;
  }
  let isAsking = false;
  const sign = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    client.query('select 1').then(
      () => (isAsking = false),
      () => lost.abort(),
    );
  }, silenceMaxMs / 4);
  sign.unref();
  lost.signal.addEventListener('abort', () => clearInterval(sign));
  return {
    lost: lost.signal,
    async [Symbol.asyncDispose]() {
      lost.abort();
      await client.end().catch(() => undefined);
    },
  };
}
