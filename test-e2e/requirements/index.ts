import type { Rule, Rows } from './rule.ts';
import { agent } from './agent.ts';
import { apiKeys } from './api-keys.ts';
import { authentication } from './authentication.ts';
import { cells } from './cells.ts';
import { commandLine } from './command-line.ts';
import { errors } from './errors.ts';
import { events } from './events.ts';
import { graphql } from './graphql.ts';
import { idempotency } from './idempotency.ts';
import { installation } from './installation.ts';
import { limits } from './limits.ts';
import { meta } from './meta.ts';
import { never } from './never.ts';
import { operator } from './operator.ts';
import { people } from './people.ts';
import { repeating } from './repeating.ts';
import { secrets } from './secrets.ts';
import { sync } from './sync.ts';
import { syncChanges } from './sync-changes.ts';
import { syncSocket } from './sync-socket.ts';
import { trash } from './trash.ts';
import { versioning } from './versioning.ts';
import { webhookDelivery } from './webhook-delivery.ts';
import { webhookManagement } from './webhook-management.ts';
import { workspaces } from './workspaces.ts';

export type { Rule } from './rule.ts';

const SURFACES: readonly Rows[] = [
  workspaces,
  apiKeys,
  sync,
  syncChanges,
  repeating,
  syncSocket,
  trash,
  graphql,
  webhookManagement,
  webhookDelivery,
  events,
  authentication,
  people,
  operator,
  secrets,
  errors,
  idempotency,
  installation,
  cells,
  limits,
  versioning,
  meta,
  agent,
  commandLine,
  never,
];

/** Every rule, surface by surface. */
export const RULES: readonly Rule[] = SURFACES.flatMap((rows) =>
  rows.map(([id, text, home, source]) => ({ id, text, home, source })),
);
