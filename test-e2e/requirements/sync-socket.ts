import type { Rows } from './rule.ts';

/** Live deltas over WebSocket: section 4.5 of the specification and design 7. */
// prettier-ignore
export const syncSocket: Rows = [
  ['sync.socket.upgrade-token', '`GET /sync/ws` upgrades with a token in the query string.', 'services/gateway/src/edge/authenticate.ts', 'Specification 4.5'],
  ['sync.socket.refused-upgrade', 'A bad token is refused before the upgrade: 401 in the common error shape.', 'services/gateway/src/edge/authenticate.ts', 'Design 7'],
  ['sync.socket.subscribe', 'The client sends `subscribe` with `afterSyncId` and `token`.', 'services/sync/src/socket/frames.ts', 'Specification 4.5'],
  ['sync.socket.subscribed', 'The server answers `subscribed` with `afterSyncId` and `groups`: the user id and workspace ids.', 'services/sync/src/socket/frames.ts', 'Specification 4.5'],
  ['sync.socket.frame-token', 'The token is checked again in the subscribe frame.', 'services/sync/src/socket/session.ts', 'Specification 5'],
  ['sync.socket.delta', 'The server sends `delta` with `packet`: `lastSyncId` and `actions`.', 'services/sync/src/hub/packet.ts', 'Specification 4.5'],
  ['sync.socket.catch-up', '`subscribed` is the first frame, then every entry after `afterSyncId`, then new entries; none is missing in between.', 'services/sync/src/socket/feed.ts', 'Design 7'],
  ['sync.socket.ascending', 'Actions on a socket strictly ascend.', 'services/sync/src/socket/feed.ts', 'Design 7'],
  ['sync.socket.own-groups', "A socket carries actions of the subscriber's groups only, and of each what follows their latest gain of it.", 'packages/read-model/src/visibility.ts', 'Specification 4.5'],
  ['sync.socket.echo', 'The client that made a change gets its echo too.', 'services/sync/src/socket/feed.ts', 'Design 7'],
  ['sync.socket.re-subscribe', 'A client may subscribe again on the same socket.', 'services/sync/src/socket/session.ts', 'Design 7'],
  ['sync.socket.no-subscribe', 'A socket that does not subscribe within 10 s is closed.', 'services/sync/src/socket/session.ts', 'Design 7'],
  ['sync.socket.frame-max', 'An inbound frame is at most 64 KB.', 'services/sync/src/socket/session.ts', 'Design 7'],
  ['sync.socket.bad-frame', 'A malformed frame, such as one with the same key twice, and a first frame of an unknown type are answered by an error frame before the close.', 'services/sync/src/socket/frames.ts', 'Design 7'],
  ['sync.socket.no-subprotocol', 'A subprotocol that a client offers is not confirmed, because none is spoken.', 'services/sync/src/socket/server.ts', 'RFC 6455 4.2.2'],
  ['sync.socket.watermark', 'A quiet socket gets an empty packet as watermark every 20 s.', 'services/sync/src/socket/session.ts', 'Design 7'],
  ['sync.socket.ping', 'The server pings every 30 s, and lets go of a connection that does not answer.', 'services/sync/src/socket/session.ts', 'Design 7'],
  ['sync.socket.bootstrap-required', 'A cursor the log cannot go on from is answered by an error frame `BOOTSTRAP_REQUIRED`, and the socket may subscribe again.', 'services/sync/src/socket/session.ts', 'Design 7'],
  ['sync.socket.slow-reader', 'A socket that does not read is not fed: above 256 KB unsent its cursor waits, and it is closed with a resumable code after 20 s.', 'services/sync/src/socket/session.ts', 'Design 3'],
  ['sync.socket.two-replicas', 'A change committed through one replica reaches sockets of every replica.', 'services/sync/src/hub/hub.ts', 'Design 3'],
  ['sync.socket.credential-dies', 'A socket whose credential dies is closed.', 'services/sync/src/socket/server.ts', 'Design 7'],
  ['sync.socket.drain', 'When a sync service stops, its sockets are closed with 1012 and jitter, after an error frame; when a gateway stops, its sockets end with jitter, behind everything that was sent, and clients resume by cursor.', 'services/sync/src/socket/server.ts', 'Design 7'],
  ['sync.socket.only-path', '`/sync/ws` is the only path that upgrades.', 'services/gateway/src/edge/socket-proxy.ts', 'Specification 4.5'],
];
