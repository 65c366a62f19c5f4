import type { Rule } from './rule.ts';

/** Numbers callers can rely on: section 8 of the specification and the bounds of design 5. Limits of one surface stand with the surface. */
export const limits: readonly Rule[] = [
  {
    id: 'limits.workspace.name',
    source: 'Specification 8',
    text: 'A workspace name is 1 to 100 characters.',
    home: 'packages/contracts/src/workspaces.ts',
    status: 'kept',
    issue: 2,
  },
  {
    id: 'limits.workspace.url-key',
    source: 'Specification 8',
    text: 'A workspace urlKey is 3 to 50 characters.',
    home: 'packages/contracts/src/workspaces.ts',
    status: 'kept',
    issue: 2,
  },
  {
    id: 'limits.invitation.days',
    source: 'Specification 8',
    text: 'An invitation expires after 1 to 365 days.',
    home: 'packages/contracts/src/members.ts',
    status: 'kept',
    issue: 4,
  },
  {
    id: 'limits.webhook.description',
    source: 'Specification 8',
    text: 'A webhook description is at most 255 characters.',
    home: null,
    status: 'planned',
  },
  {
    id: 'limits.webhook.deliveries-page',
    source: 'Specification 8',
    text: 'A page of deliveries is 1 to 100, 25 by default.',
    home: null,
    status: 'planned',
  },
  {
    id: 'limits.webhook.attempts',
    source: 'Specification 8',
    text: 'A delivery has at most 8 attempts.',
    home: null,
    status: 'planned',
  },
  {
    id: 'limits.body.rest',
    source: 'Design 5',
    text: 'A REST body is at most 1 MiB.',
    home: 'services/gateway/src/edge/bound-body.ts',
    status: 'kept',
    issue: 2,
  },
  {
    id: 'limits.body.mutate',
    source: 'Design 5',
    text: 'A mutate body is at most 4 MiB.',
    home: 'services/gateway/src/edge/bound-body.ts',
    status: 'kept',
    issue: 2,
  },
  {
    id: 'limits.time.slow-sender',
    source: 'Design 5',
    text: 'A request that dribbles in is ended, and does not hold its socket.',
    home: null,
    status: 'planned',
    issue: 2,
  },
];
