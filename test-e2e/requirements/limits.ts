import type { Rows } from './rule.ts';

/** Numbers callers can rely on: section 8 of the specification and the bounds of design 5. Limits of one surface stand with the surface. */
// prettier-ignore
export const limits: Rows = [
  ['limits.workspace.name', 'A workspace name is 1 to 100 characters.', 'packages/contracts/src/workspaces.ts', 'Specification 8'],
  ['limits.workspace.url-key', 'A workspace urlKey is 3 to 50 characters.', 'packages/contracts/src/workspaces.ts', 'Specification 8'],
  ['limits.invitation.days', 'An invitation expires after 1 to 365 days.', 'packages/contracts/src/members.ts', 'Specification 8'],
  ['limits.webhook.description', 'A webhook description is at most 255 characters.', 'packages/contracts/src/webhooks/endpoint.ts', 'Specification 8'],
  ['limits.webhook.deliveries-page', 'A page of deliveries is 1 to 100, 25 by default.', 'services/webhook-dispatcher/src/queries/read-deliveries.ts', 'Specification 8'],
  ['limits.webhook.attempts', 'A delivery has at most 8 attempts.', 'services/webhook-dispatcher/src/domain/schedule.ts', 'Specification 8'],
  ['limits.body.rest', 'A REST body is at most 1 MiB.', 'services/gateway/src/edge/bound-body.ts', 'Design 5'],
  ['limits.body.mutate', 'A mutate body is at most 4 MiB.', 'services/gateway/src/edge/bound-body.ts', 'Design 5'],
  ['limits.time.slow-sender', 'A request that is sent slowly is ended, and does not hold its socket.', 'packages/service-kit/src/http/server.ts', 'Design 5'],
  ['limits.pipelining', 'Pipelined requests are handled one at a time and answered in order, in any number; the memory for them is bounded per connection.', 'packages/service-kit/src/http/pipelining.ts', 'Design 14.7'],
  ['limits.half-closed', 'A client that closes its side of the connection after its requests gets their answers; then, or after a silence, the connection ends.', 'packages/service-kit/src/http/pipelining.ts', 'Design 14.7'],
  ['limits.connections.network', 'One network holds a share of all connections as long as no credential speaks for them; the longest idle give way first where there is no room.', 'services/gateway/src/edge/network-connections.ts', 'Design 14.10'],
  ['limits.look-ups.network', 'Credentials of one network are looked up a few at a time, and refused ones drive no good one out of memory.', 'packages/service-kit/src/call/authenticator.ts', 'Design 14.10'],
  ['limits.at-once.caller', 'A caller, and all callers of a network together, have a bounded share of a gateway in concurrent requests, sockets and bytes of bodies; beyond it they get 429, and other callers do not wait for them.', 'services/gateway/src/edge/shares.ts', 'Design 14.7'],
  ['limits.rate.rest', 'A caller has a generous bound on REST requests; beyond it they are 429.', 'services/gateway/src/rates/policies.ts', 'Design 5'],
  ['limits.rate.sync', 'Sync routes have no rate, because their work is shared out by person; an operator may set one for each person or network.', 'services/gateway/src/rates/policies.ts', 'Design 14.10'],
  ['limits.rate.at-once', 'A rate also holds for concurrent requests, to one gateway or to several.', 'services/gateway/src/edge/limit-rate.ts', 'Design 14.10'],
  ['limits.rate.codes', 'Wrong invitation codes are bounded per person, over REST, GraphQL and the pages together, and per address.', 'services/workspace/src/commands/count-wrong-codes.ts', 'Design 5'],
  ['limits.rate.credentials', 'Refused credentials are limited per address; this limit never blocks a caller with a valid credential.', 'services/gateway/src/rates/policies.ts', 'Design 5'],
  ['limits.rate.authorization', 'Passwords, pages, registrations, authorization requests and token requests are limited per address, and calls of agents per person. A browser gets a page that says when to try again.', 'services/gateway/src/rates/policies.ts', 'Design 10'],
  ['limits.rate.address', 'The address of a caller is the peer, or the one that a configured proxy sends; an IPv6 network of 64 bits, and a mapped IPv4 address, count as one address.', 'services/gateway/src/edge/limit-rate.ts', 'Design 5'],
  ['limits.rate.headers', 'Responses contain what is left of a rate: `RateLimit`, `RateLimit-Policy` and `X-RateLimit-*`.', 'services/gateway/src/edge/limit-rate.ts', 'Design 5'],
  ['limits.rate.shared', 'All gateways count together; while NATS is down each counts alone.', 'services/gateway/src/rates/share.ts', 'Design 5'],
];
