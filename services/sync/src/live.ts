import { servicePrincipal } from '@wts/access';
import { credentialApi, streamOf, type EntryChunk, type Revocation } from '@wts/contracts';
import { readEntries, type LogReader } from '@wts/log';
import { openAuthenticator, openServiceClient } from '@wts/service-kit/call';
import type { ConfigOf } from '@wts/service-kit/config';
import type { ServiceContext } from '@wts/service-kit/life';
import { onRevocation, openNats } from '@wts/service-kit/nats';
import { type GroupCache, GroupReader } from '@wts/read-model';
import type { Pool } from 'pg';
import type { FairGate, LoopTurns } from '@wts/service-kit/fairness';
import type { settings } from './config.ts';
import { Hub, type HubOptions } from './hub/hub.ts';
import { publishWorkspaces } from './relay/committed-workspaces.ts';
import { openHandover } from './relay/handover.ts';
import { relayMetrics } from './relay/metrics.ts';
import { startRelay } from './relay/relay.ts';
import type { OpenAnswers } from './snapshots/open-answers.ts';
import { openSocketServer, type SocketServer } from './socket/server.ts';
import { followRevokedCredentials } from './socket/revoked-credentials.ts';

interface LiveOptions {
  readonly kit: ServiceContext;
  readonly config: ConfigOf<typeof settings>;
  readonly pool: Pool;
  /** For the database reads of sockets. */
  readonly gate: FairGate;
  readonly turns: LoopTurns;
  readonly groupCache: GroupCache;
  readonly log: LogReader;
  readonly onCommitted: (listener: (chunk: EntryChunk) => void) => void;
  readonly openAnswers: OpenAnswers;
}

/** Opens what carries a change after its commit: relay to the stream, hub, sockets. */
export function openLive(options: LiveOptions): { socketServer: SocketServer } {
  const { kit, config, pool, gate, turns, groupCache, log, onCommitted } = options;
  const { stack, log: logger, metrics } = kit;
  const nats = openNats({ ...config, name: `wts-${kit.name}`, log: logger, stack });
  const nc = () => nats.connection();
  const of = streamOf(config.shard);
  const handover = stack.use(openHandover({ nats, of, onCommitted, logger }));
  publishWorkspaces(nats, of, onCommitted);
  const { databaseUrl, streamReplicas } = config;
  stack.use(
    startRelay(kit, { nc, of, log, handover, databaseUrl, streamReplicas, metrics: relayMetrics(metrics), logger }),
  );

  const hub = followLog({ nc, of, log, handover: (offer) => handover.listen(offer) }, kit);

  const groups = new GroupReader(pool, groupCache);
  const auth = openServiceClient({ ...kit, shard: config.shard }, 'auth', config.authUrls);
  // For the tokens in subscribe frames.
  const authenticator = openAuthenticator(kit, auth, config);
  const socketServer = stack.use(
    openSocketServer({
      hub,
      gate,
      turns,
      groups,
      readEntries: (range) => readEntries(pool, range),
      readHead: () => log.head(),
      authenticate: (token) => authenticator.authenticateToken(token),
      calls: kit.http,
      socketsMax: kit.connections.socketsMax,
      metrics,
      logger,
    }),
  );
  const onRevoked = (revocation: Revocation): void => {
    authenticator.revoke(revocation);
    socketServer.revoke(revocation);
    options.openAnswers.revoke(revocation);
  };
  onRevocation(nats, onRevoked);
  const { REVOKED_CREDENTIALS_PAGE: pageMax, internalListRevokedCredentials } = credentialApi;
  stack.use(
    followRevokedCredentials(kit, {
      list: (body, signal) =>
        auth.call(internalListRevokedCredentials, {
          principal: servicePrincipal(kit.name),
          body,
          idempotent: true,
          timeoutMs: REVOKED_TIMEOUT_MS,
          signal,
        }),
      onRevoked,
      pageMax,
    }),
  );
  return { socketServer };
}

/** Starts the hub, which follows the log for as long as the service runs. */
function followLog(
  sources: Pick<HubOptions, 'nc' | 'of' | 'log' | 'handover'>,
  { stack, log: logger, readiness }: ServiceContext,
): Hub {
  // Not the signal that begins draining, because the hub serves sockets until the server has closed them.
  const stopping = new AbortController();
  const hub = new Hub({ ...sources, signal: stopping.signal, logger });
  const following = hub.run().catch((error: unknown) => {
    logger.error(
      { err: error },
      'the hub stopped, so this replica sends no changes to its sockets and reports itself not ready; restart it',
    );
    readiness.fail('hub', 'the hub stopped');
  });
  stack.defer(async () => {
    stopping.abort();
    await following;
  });
  readiness.add('hub', async () => {
    if (!hub.isOpen) throw new Error('the log has not been read yet');
  });
  return hub;
}

/** A request that hangs must not delay the next one for longer than a credential may be cached. */
const REVOKED_TIMEOUT_MS = 2_000;
