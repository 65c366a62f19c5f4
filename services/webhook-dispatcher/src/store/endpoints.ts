import type { EndpointChange, NewEndpoint, WebhookEndpoint } from '@wts/contracts';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { SealedSecret } from '@wts/service-kit/sealing';
import { HEAD, isoTimeSql } from '@wts/log';
import { isMoving } from '@wts/read-model';
import { followWorkspace } from './workspaces.ts';

/** A secret about to be stored. */
export type NewSecret = SealedSecret & { readonly id: string };
export type NewStoredEndpoint = NewEndpoint & { readonly id: string; readonly createdBy: string };

export type EndpointStore = ReturnType<typeof endpointStore>;

interface RotationBounds {
  readonly max: number;
  readonly overlapHours: number;
}

/** Of a `WebhookEndpoint`. */
const COLUMNS = `e.id, workspace_id as "workspaceId", e.url, e.description, e.event_types as "eventTypes", e.enabled,
  consecutive_failures as "consecutiveFailures", ${isoTimeSql('disabled_at')} as "disabledAt",
  disabled_reason as "disabledReason", ${isoTimeSql('created_at')} as "createdAt", ${isoTimeSql('updated_at')} as "updatedAt"`;

/** Any constant: keeps the locks of workspaces apart from other advisory locks. */
const WORKSPACE_LOCK = 7_368_023;

export function endpointStore(knex: Knex) {
  return {
    /** The oldest first. Rests on the partial index endpoints (workspace_id). */
    list: (workspaceId: string) => {
      const sql = `select ${COLUMNS} from webhooks.endpoints e
        where workspace_id = :workspaceId and deleted_at is null order by created_at, id`;
      return rows<WebhookEndpoint>(knex, sql, { workspaceId });
    },
    find: (id: string) =>
      firstRow<WebhookEndpoint>(
        knex,
        `select ${COLUMNS} from webhooks.endpoints e where id = :id and deleted_at is null`,
        { id },
      ),
    create: (endpoint: NewStoredEndpoint, secret: NewSecret, max: number) =>
      knex.transaction((trx) => create(trx, endpoint, secret, max)),
    update: (id: string, change: EndpointChange) => knex.transaction((trx) => update(trx, id, change)),
    rotate: (id: string, secret: NewSecret, bounds: RotationBounds) =>
      knex.transaction((trx) => rotate(trx, id, secret, bounds)),
    remove: (id: string) => knex.transaction((trx) => remove(trx, id)),
  };
}

/** Null when the workspace has `max` endpoints. An id of an earlier try of the same request gets the new secret instead. */
async function create(
  trx: Knex,
  { id, createdBy, url, workspaceId, description = '', eventTypes = [] }: NewStoredEndpoint,
  secret: NewSecret,
  max: number,
): Promise<WebhookEndpoint | null> {
  // So that each of parallel requests counts what the ones before have created.
  await lockWorkspace(trx, workspaceId);
  await followWorkspace(trx, workspaceId, createdBy);
  const made = await firstRow<WebhookEndpoint>(
    trx,
    `insert into webhooks.endpoints as e (id, workspace_id, url, description, event_types, created_by, since_position)
      select :id, :workspaceId, :url, :description, cast(:eventTypes as text[]), :createdBy,
        (select coalesce(max(sync_id), 0) from sync.sync_actions)
      where (select count(*) from webhooks.endpoints e
        where workspace_id = :workspaceId and deleted_at is null and id <> :id) < :max and not ${isMoving(':workspaceId')}
      on conflict (id) do update set updated_at = now()
        where e.workspace_id = excluded.workspace_id and e.created_by = excluded.created_by and e.deleted_at is null
      returning ${COLUMNS}`,
    { id, workspaceId, url, description, eventTypes, createdBy, max },
  );
  if (made === null) return null;
  await rows(trx, `insert into webhooks.lanes (endpoint_id) values (:id) on conflict do nothing`, { id });
  await rows(trx, `delete from webhooks.secrets where endpoint_id = :id`, { id });
  await insertSecret(trx, id, secret);
  return made;
}

/** Requests that create or enable an endpoint of the workspace take turns. */
async function lockWorkspace(trx: Knex, workspaceId: string): Promise<void> {
  await rows(trx, lockWorkspaceSql(':workspaceId'), { workspaceId });
}

/** `workspaceId` is SQL. */
export function lockWorkspaceSql(workspaceId: string): string {
  return `select pg_advisory_xact_lock(${WORKSPACE_LOCK}, hashtext(${workspaceId}))`;
}

/** Null for an endpoint that was deleted. */
async function update(
  trx: Knex,
  id: string,
  { url, description, eventTypes, enabled }: EndpointChange,
): Promise<WebhookEndpoint | null> {
  if (enabled === true) await followAgain(trx, id);
  const changed = await firstRow<WebhookEndpoint>(
    trx,
    `update webhooks.endpoints e set updated_at = now(),
      url = coalesce(c.url, e.url),
      has_succeeded = has_succeeded and coalesce(substring(c.url from :origin) = substring(e.url from :origin), true),
      description = coalesce(c.description, e.description),
      event_types = coalesce(c.event_types, e.event_types),
      enabled = coalesce(c.enabled, e.enabled),
      since_position = case when c.enabled and not e.enabled then ${HEAD} else since_position end,
      consecutive_failures = case when c.enabled then 0 else consecutive_failures end,
      failing_since = case when c.enabled then null else failing_since end,
      last_failure_at = case when c.enabled then null else last_failure_at end,
      disabled_at = case c.enabled when true then null when false then coalesce(disabled_at, now()) else disabled_at end,
      disabled_reason = case when c.enabled then null else disabled_reason end
    from (select cast(:url as text) as url, cast(:description as text) as description,
      cast(:eventTypes as text[]) as event_types, cast(:enabled as boolean) as enabled) c
    where e.id = :id and deleted_at is null and not ${isMoving('e.workspace_id')} returning ${COLUMNS}`,
    {
      id,
      url: url ?? null,
      description: description ?? null,
      eventTypes: eventTypes ?? null,
      enabled: enabled ?? null,
      origin: '^[a-z]+://[^/]+',
    },
  );
  // Deliveries that were kept while it was disabled are due now.
  if (changed !== null && enabled === true) await wakeLane(trx, id);
  return changed;
}

async function followAgain(trx: Knex, id: string): Promise<void> {
  const sql = 'select workspace_id as "workspaceId", created_by as "createdBy" from webhooks.endpoints where id = :id';
  const [endpoint] = await rows<{ workspaceId: string; createdBy: string }>(trx, sql, { id });
  if (endpoint === undefined) return;
  await lockWorkspace(trx, endpoint.workspaceId);
  await followWorkspace(trx, endpoint.workspaceId, endpoint.createdBy);
}

/** Null for an endpoint that was deleted. The secrets before sign for `overlapHours` more. */
async function rotate(
  trx: Knex,
  id: string,
  secret: NewSecret,
  { max, overlapHours }: RotationBounds,
): Promise<WebhookEndpoint | 'too_many_secrets' | null> {
  // Locks the endpoint, so that two rotations take turns.
  const endpoint = await firstRow<WebhookEndpoint>(
    trx,
    `update webhooks.endpoints e set updated_at = now()
      where id = :id and deleted_at is null and not ${isMoving('e.workspace_id')} returning ${COLUMNS}`,
    { id },
  );
  if (endpoint === null) return null;
  await rows(trx, `delete from webhooks.secrets where endpoint_id = :id and expires_at <= now()`, { id });
  const others = `endpoint_id = :id and id <> :secretId`;
  const values = { id, secretId: secret.id };
  const inForce = await rows(trx, `select id from webhooks.secrets where ${others}`, values);
  if (inForce.length >= max) return 'too_many_secrets';
  await rows(
    trx,
    `update webhooks.secrets set expires_at = now() + make_interval(hours => :overlapHours)
      where ${others} and expires_at is null`,
    { ...values, overlapHours },
  );
  await insertSecret(trx, id, secret);
  return endpoint;
}

/** False for an endpoint that was deleted. Its history is removed later, in steps. */
async function remove(trx: Knex, id: string): Promise<boolean> {
  const sql = `update webhooks.endpoints e set deleted_at = now(), enabled = false
    where id = :id and deleted_at is null and not ${isMoving('e.workspace_id')} returning id`;
  if ((await rows(trx, sql, { id })).length === 0) return false;
  await rows(trx, `delete from webhooks.lanes where endpoint_id = :id`, { id });
  await rows(trx, `delete from webhooks.secrets where endpoint_id = :id`, { id });
  return true;
}

/**
 * A secret of an earlier try of the same request was never shown: the new one takes its place. It is the current one also when
 * the `Idempotency-Key` was used before and another secret has followed since.
 */
async function insertSecret(trx: Knex, endpointId: string, { id, keyId, sealed }: NewSecret): Promise<void> {
  await rows(
    trx,
    `insert into webhooks.secrets (id, endpoint_id, key_id, sealed) values (:id, :endpointId, :keyId, :sealed)
      on conflict (id) do update set key_id = excluded.key_id, sealed = excluded.sealed, created_at = now(), expires_at = null`,
    { id, endpointId, keyId, sealed },
  );
}

/** The replica that holds the lane reads it again at its next poll; another replica claims a lane without a holder. */
export async function wakeLane(knex: Knex, endpointId: string): Promise<void> {
  const sql = `update webhooks.lanes set due_at = least(coalesce(due_at, now()), now()), wakes = wakes + 1
    where endpoint_id = :endpointId`;
  await rows(knex, sql, { endpointId });
}
