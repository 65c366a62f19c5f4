import { createAuthenticator, servicePrincipal } from '@wts/access';
import type { Authenticator, Issuer } from '@wts/access';
import type { ActionChunk } from '@wts/contracts';
import { workspaceApi } from '@wts/contracts';
import { createCaller, onRevocation, openNats } from '@wts/service-kit';
import type { ServiceContext } from '@wts/service-kit';
import type { Pool } from 'pg';
import type { DeltasSources } from './deltas/read-deltas.ts';
import { Groups } from './groups/groups.ts';
import { Hub } from './hub/hub.ts';
import { openHandover } from './relay/handover.ts';
import { relayMetrics } from './relay/metrics.ts';
import { startRelay } from './relay/relay.ts';
import { openSocketDoor } from './socket/door.ts';
import type { SocketDoor } from './socket/door.ts';
import { readEntries, readLostGroups } from './store/entries.ts';
import type { ActionLog } from './store/log.ts';

interface LiveOptions {
  readonly kit: ServiceContext;
  readonly config: {
    readonly databaseUrl: string;
    readonly natsUrl: string;
    readonly streamReplicas: number;
    readonly workspaceUrls: readonly string[];
    readonly apiKeyPrefix: string;
    readonly issuers?: readonly Issuer[] | undefined;
  };
  readonly pool: Pool;
  readonly log: ActionLog;
  readonly onCommitted: (listener: (chunk: ActionChunk) => void) => void;
}

/** The way of a change after its commit: relay to the stream, hub, sockets; and what pollers read. */
export function openLive({ kit, config, pool, log, onCommitted }: LiveOptions): {
  door: SocketDoor;
  deltas: DeltasSources;
} {
  const { stack, log: logger, metrics, readiness } = kit;
  const nats = openNats({ url: config.natsUrl, name: `wts-${kit.name}`, log: logger, stack });
  const nc = () => nats.connection();
  const handover = openHandover({ nats, onCommitted, logger });
  const { databaseUrl, streamReplicas } = config;
  stack.use(startRelay({ nc, log, handover, databaseUrl, streamReplicas, metrics: relayMetrics(metrics), logger }));

  // Not the signal that begins draining: sockets are served until they are told to go.
  const stopping = new AbortController();
  const hub = new Hub({ nc, log, handover: (offer) => handover.listen(offer), signal: stopping.signal, logger });
  const following = hub.run().catch((error: unknown) => {
    logger.error({ err: error }, 'the hub stopped');
    readiness.fail('hub', 'the hub stopped');
  });
  stack.defer(async () => {
    stopping.abort();
    await following;
  });
  readiness.add('hub', async () => {
    if (!hub.isOpen) throw new Error('the log has not been read yet');
  });

  const groups = new Groups(pool);
  const deltas: DeltasSources = {
    groups: {
      of: (userId, workspaceId) => groups.of(userId, workspaceId),
      lostAt: (userId, place) => readLostGroups(pool, userId, place),
    },
    readEntries: (...range) => readEntries(pool, ...range),
  };
  const authenticator = openAuthenticator(kit, config);
  const door = stack.use(
    openSocketDoor({
      hub,
      ...deltas,
      readHead: () => log.head(),
      authenticate: (token) => authenticator.authenticateToken(token),
      internalTokenSecret: kit.internalTokenSecret,
      metrics,
      logger,
    }),
  );
  onRevocation(nats, (revocation) => {
    authenticator.forget(revocation);
    door.revoke(revocation);
  });
  return { door, deltas };
}

/** For the tokens in subscribe frames; the two look-ups only the workspace service can answer. */
function openAuthenticator(kit: ServiceContext, config: LiveOptions['config']): Authenticator {
  const { name, stack, log } = kit;
  const principal = servicePrincipal(name);
  const secret = kit.internalTokenSecret;
  const workspace = createCaller({ name: 'workspace', urls: config.workspaceUrls, secret, self: name, log });
  stack.defer(() => workspace.close());
  const authenticator = createAuthenticator({
    issuers: config.issuers ?? [],
    apiKeyPrefix: config.apiKeyPrefix,
    resolveApiKey: async (tokenHash) => {
      const request = { principal, body: { tokenHash }, idempotent: true };
      return (await workspace.call(workspaceApi.internalResolveApiKey, request)).principal;
    },
    resolvePerson: async (identity) => {
      const request = { principal, body: identity, idempotent: true };
      return (await workspace.call(workspaceApi.internalResolvePerson, request)).userId;
    },
  });
  stack.defer(() => authenticator.close());
  return authenticator;
}
