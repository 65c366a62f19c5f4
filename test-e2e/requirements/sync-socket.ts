import type { Rule } from './rule.ts';

/** Live deltas over WebSocket: section 4.5 of the specification and design 7. */
export const syncSocket: readonly Rule[] = [
  {
    id: 'sync.socket.upgrade-token',
    source: 'Specification 4.5',
    text: '`GET /sync/ws` upgrades with a token in the query string.',
    home: 'services/gateway/src/edge/authenticate.ts',
  },
  {
    id: 'sync.socket.refused-upgrade',
    source: 'Design 7',
    text: 'A bad token is refused before the upgrade: 401 in the common error shape.',
    home: 'services/gateway/src/edge/authenticate.ts',
  },
  {
    id: 'sync.socket.subscribe',
    source: 'Specification 4.5',
    text: 'The client sends `subscribe` with `afterSyncId` and `token`.',
    home: 'services/sync/src/socket/frames.ts',
  },
  {
    id: 'sync.socket.subscribed',
    source: 'Specification 4.5',
    text: 'The server answers `subscribed` with `afterSyncId` and `groups`: the user id and workspace ids.',
    home: 'services/sync/src/socket/frames.ts',
  },
  {
    id: 'sync.socket.frame-token',
    source: 'Specification 5',
    text: 'The token is checked again in the subscribe frame.',
    home: 'services/sync/src/socket/session.ts',
  },
  {
    id: 'sync.socket.delta',
    source: 'Specification 4.5',
    text: 'The server sends `delta` with `packet`: `lastSyncId` and `actions`.',
    home: 'services/sync/src/hub/packet.ts',
  },
  {
    id: 'sync.socket.catch-up',
    source: 'Design 7',
    text: '`subscribed` is the first frame, then every entry after `afterSyncId`, then new entries; none is missing in between.',
    home: 'services/sync/src/socket/feed.ts',
  },
  {
    id: 'sync.socket.ascending',
    source: 'Design 7',
    text: 'Actions on a socket strictly ascend.',
    home: 'services/sync/src/socket/feed.ts',
  },
  {
    id: 'sync.socket.own-groups',
    source: 'Specification 4.5',
    text: "A socket carries actions of the subscriber's groups only, and of each what follows their latest gain of it.",
    home: 'packages/read-model/src/visibility.ts',
  },
  {
    id: 'sync.socket.echo',
    source: 'Design 7',
    text: 'The client that made a change gets its echo too.',
    home: 'services/sync/src/socket/feed.ts',
  },
  {
    id: 'sync.socket.re-subscribe',
    source: 'Design 7',
    text: 'A client may subscribe again on the same socket.',
    home: 'services/sync/src/socket/session.ts',
  },
  {
    id: 'sync.socket.no-subscribe',
    source: 'Design 7',
    text: 'A socket that does not subscribe within 10 s is closed.',
    home: 'services/sync/src/socket/session.ts',
  },
  {
    id: 'sync.socket.frame-max',
    source: 'Design 7',
    text: 'An inbound frame is at most 64 KB.',
    home: 'services/sync/src/socket/session.ts',
  },
  {
    id: 'sync.socket.bad-frame',
    source: 'Design 7',
    text: 'A malformed frame, such as one with the same key twice, and a first frame of an unknown type are answered by an error frame before the close.',
    home: 'services/sync/src/socket/frames.ts',
  },
  {
    id: 'sync.socket.no-subprotocol',
    source: 'RFC 6455 4.2.2',
    text: 'A subprotocol that a client offers is not confirmed, because none is spoken.',
    home: 'services/sync/src/socket/server.ts',
  },
  {
    id: 'sync.socket.watermark',
    source: 'Design 7',
    text: 'A quiet socket gets an empty packet as watermark every 20 s.',
    home: 'services/sync/src/socket/session.ts',
  },
  {
    id: 'sync.socket.ping',
    source: 'Design 7',
    text: 'The server pings every 30 s, and lets go of a connection that does not answer.',
    home: 'services/sync/src/socket/session.ts',
  },
  {
    id: 'sync.socket.bootstrap-required',
    source: 'Design 7',
    text: 'A cursor the log cannot go on from is answered by an error frame `BOOTSTRAP_REQUIRED`, and the socket may subscribe again.',
    home: 'services/sync/src/socket/session.ts',
  },
  {
    id: 'sync.socket.slow-reader',
    source: 'Design 3',
    text: 'A socket that does not read is not fed: above 256 KB unsent its cursor waits, and it is closed with a resumable code after 20 s.',
    home: 'services/sync/src/socket/session.ts',
  },
  {
    id: 'sync.socket.two-replicas',
    source: 'Design 3',
    text: 'A change committed through one replica reaches sockets of every replica.',
    home: 'services/sync/src/hub/hub.ts',
  },
  {
    id: 'sync.socket.credential-dies',
    source: 'Design 7',
    text: 'A socket whose credential dies is closed.',
    home: 'services/sync/src/socket/server.ts',
  },
  {
    id: 'sync.socket.drain',
    source: 'Design 7',
    text: 'When a sync service stops, its sockets are closed with 1012 and jitter, after an error frame; when a gateway stops, its sockets end with jitter, behind everything that was sent, and clients resume by cursor.',
    home: 'services/sync/src/socket/server.ts',
  },
  {
    id: 'sync.socket.only-path',
    source: 'Specification 4.5',
    text: '`/sync/ws` is the only path that upgrades.',
    home: 'services/gateway/src/edge/socket-proxy.ts',
  },
];
