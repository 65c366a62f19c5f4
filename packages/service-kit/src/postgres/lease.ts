import { connectClient } from './other-password.ts';

export interface Lease extends AsyncDisposable {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
}

export interface LeaseOptions {
  readonly url: string;
  /** Names the lock among all advisory locks of the database. */
  readonly key: number;
  readonly name: string;
  readonly logger: { warn(fields: object, text: string): void };
  /** The server ends the session, and with it the lease, after this long without a query. */
  readonly silenceMaxMs?: number | undefined;
}

const SILENCE_MAX_MS = 4_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A lease is a session-level advisory lock on a connection of its own: PostgreSQL grants it to one session and releases it when the
 * session ends for any reason. The connection of a holder that is paused, or whose host lost its network, stays open, so the server
 * ends a session without a query for `silenceMaxMs`, and a holder sends queries more often.
 *
 * A holder learns a moment later that its lease is lost, so its work under the lease must be harmless in that moment.
 *
 * Returns null when another session holds the lease. Throws when PostgreSQL does not reply.
 */
export async function tryLease(options: LeaseOptions): Promise<Lease | null> {
  const { url, key, name, logger, silenceMaxMs = SILENCE_MAX_MS } = options;
  const client = await connectClient({
    connectionString: url,
    application_name: name,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: silenceMaxMs,
  });
  const lost = new AbortController();
  client.on('error', (error) => {
    if (!lost.signal.aborted)
      logger.warn(
        { err: error, lease: name },
        'the lease is lost with its connection; its work goes on here or in another replica',
      );
    lost.abort();
  });
  client.on('end', () => lost.abort());
  try {
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
  let isQuerying = false;
  const heartbeat = setInterval(() => {
    if (isQuerying) return;
    isQuerying = true;
    client.query('select 1').then(
      () => (isQuerying = false),
      () => lost.abort(),
    );
  }, silenceMaxMs / 4);
  heartbeat.unref();
  lost.signal.addEventListener('abort', () => clearInterval(heartbeat));
  return {
    lost: lost.signal,
    async [Symbol.asyncDispose]() {
      lost.abort();
      await client.end().catch(() => undefined);
    },
  };
}
