import type { Rule } from './rule.ts';

/** Numbers callers can rely on: section 8 of the specification and the bounds of design 5. Limits of one surface stand with the surface. */
export const limits: readonly Rule[] = [
  {
    id: 'limits.workspace.name',
    source: 'Specification 8',
    text: 'A workspace name is 1 to 100 characters.',
    home: 'packages/contracts/src/workspaces.ts',
  },
  {
    id: 'limits.workspace.url-key',
    source: 'Specification 8',
    text: 'A workspace urlKey is 3 to 50 characters.',
    home: 'packages/contracts/src/workspaces.ts',
  },
  {
    id: 'limits.invitation.days',
    source: 'Specification 8',
    text: 'An invitation expires after 1 to 365 days.',
    home: 'packages/contracts/src/members.ts',
  },
  {
    id: 'limits.webhook.description',
    source: 'Specification 8',
    text: 'A webhook description is at most 255 characters.',
    home: 'packages/contracts/src/webhooks/endpoint.ts',
  },
  {
    id: 'limits.webhook.deliveries-page',
    source: 'Specification 8',
    text: 'A page of deliveries is 1 to 100, 25 by default.',
    home: 'services/webhook-dispatcher/src/queries/read-deliveries.ts',
  },
  {
    id: 'limits.webhook.attempts',
    source: 'Specification 8',
    text: 'A delivery has at most 8 attempts.',
    home: 'services/webhook-dispatcher/src/domain/schedule.ts',
  },
  {
    id: 'limits.body.rest',
    source: 'Design 5',
    text: 'A REST body is at most 1 MiB.',
    home: 'services/gateway/src/edge/bound-body.ts',
  },
  {
    id: 'limits.body.mutate',
    source: 'Design 5',
    text: 'A mutate body is at most 4 MiB.',
    home: 'services/gateway/src/edge/bound-body.ts',
  },
  {
    id: 'limits.time.slow-sender',
    source: 'Design 5',
    text: 'A request that dribbles in is ended, and does not hold its socket.',
    home: 'packages/service-kit/src/http/server.ts',
  },
  {
    id: 'limits.pipelining',
    source: 'Design 14.7',
    text: 'Pipelined requests are handled one at a time and answered in order, in any number; the memory for them is bounded per connection.',
    home: 'packages/service-kit/src/http/pipelining.ts',
  },
  {
    id: 'limits.connections.network',
    source: 'Design 14.10',
    text: 'One network holds a share of all connections as long as no credential speaks for them; the longest idle give way first where there is no room.',
    home: 'services/gateway/src/edge/network-connections.ts',
  },
  {
    id: 'limits.look-ups.network',
    source: 'Design 14.10',
    text: 'Credentials of one network are looked up a few at a time, and refused ones drive no good one out of memory.',
    home: 'packages/service-kit/src/call/authenticator.ts',
  },
  {
    id: 'limits.at-once.caller',
    source: 'Design 14.7',
    text: 'A caller, and all callers of a network together, have a bounded share of a gateway in concurrent requests, sockets and bytes of bodies; beyond it they get 429, and other callers do not wait for them.',
    home: 'services/gateway/src/edge/shares.ts',
  },
  {
    id: 'limits.rate.rest',
    source: 'Design 5',
    text: 'A caller has a generous bound on REST requests; beyond it they are 429.',
    home: 'services/gateway/src/rates/policies.ts',
  },
  {
    id: 'limits.rate.sync',
    source: 'Design 14.10',
    text: 'Sync routes have no rate, because their work is shared out by person; an operator may set one for each person or network.',
    home: 'services/gateway/src/rates/policies.ts',
  },
  {
    id: 'limits.rate.at-once',
    source: 'Design 14.10',
    text: 'A rate also holds for concurrent requests, to one gateway or to several.',
    home: 'services/gateway/src/edge/limit-rate.ts',
  },
  {
    id: 'limits.rate.codes',
    source: 'Design 5',
    text: 'Wrong invitation codes are bounded per person, over REST, GraphQL and the pages together, and per address.',
    home: 'services/workspace/src/commands/count-wrong-codes.ts',
  },
  {
    id: 'limits.rate.credentials',
    source: 'Design 5',
    text: 'Refused credentials are limited per address; this limit never blocks a caller with a valid credential.',
    home: 'services/gateway/src/rates/policies.ts',
  },
  {
    id: 'limits.rate.authorization',
    source: 'Design 10',
    text: 'Passwords, pages, registrations, authorization requests and token requests are limited per address, and calls of agents per person. A browser gets a page that says when to try again.',
    home: 'services/gateway/src/rates/policies.ts',
  },
  {
    id: 'limits.rate.address',
    source: 'Design 5',
    text: 'The address of a caller is the peer, or the one that a configured proxy sends; an IPv6 network of 64 bits, and a mapped IPv4 address, count as one address.',
    home: 'services/gateway/src/edge/limit-rate.ts',
  },
  {
    id: 'limits.rate.headers',
    source: 'Design 5',
    text: 'Responses contain what is left of a rate: `RateLimit`, `RateLimit-Policy` and `X-RateLimit-*`.',
    home: 'services/gateway/src/edge/limit-rate.ts',
  },
  {
    id: 'limits.rate.shared',
    source: 'Design 5',
    text: 'All gateways count together; while NATS is down each counts alone.',
    home: 'services/gateway/src/rates/share.ts',
  },
];
