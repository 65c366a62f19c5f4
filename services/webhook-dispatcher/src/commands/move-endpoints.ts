import { Fault, type BodyOf, type MovedEndpoint, type ReplyOf, type webhookApi } from '@wts/contracts';
import { sealSecret, unsealSecret, type SecretKeys } from '@wts/service-kit/sealing';
import type { Context } from '../context.ts';
import { secretText } from '../domain/secrets.ts';
import { requireKeys } from './manage-endpoints.ts';
import type { DeliveryCursor, NewMovedEndpoint, StoredEndpoint } from '../store/moved-endpoints.ts';

type Api = typeof webhookApi;
type MoveContext = Pick<Context, 'movedEndpoints' | 'secretKeys' | 'announce' | 'follow'>;
type Taken = Omit<ReplyOf<Api['internalTakeEndpoints']>, 'ok'>;

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Stops the endpoints of a workspace and reads a page of them. Keeps cells.move.webhooks. */
export async function takeEndpoints(
  context: MoveContext,
  { workspaceId, through, after, limit }: BodyOf<Api['internalTakeEndpoints']>,
): Promise<Taken> {
  const { movedEndpoints, announce } = context;
  const ids = await movedEndpoints.stop(workspaceId);
  const [first] = ids;
  if (first === undefined) return { endpoints: [], deliveries: [], next: null };
  const { isEnqueued, isQuiet } = await movedEndpoints.stopState(workspaceId, through);
  if (!isEnqueued || !isQuiet) {
    announce(ids);
    const message = isEnqueued ? 'Attempts of the endpoints are under way' : 'Not all events are enqueued yet';
    throw new Fault('unavailable', { message });
  }
  const stored = await movedEndpoints.read(workspaceId);
  const cursor = after === undefined ? startOf(first) : cursorOf(after);
  const { deliveries, next } = await movedEndpoints.pending(cursor, limit);
  const following = next ?? partAfter(cursor, ids);
  return {
    endpoints: stored.map((endpoint) => opened(requireKeys(context), endpoint)),
    deliveries,
    next: following === null ? null : JSON.stringify(following),
  };
}

export async function putEndpoints(
  context: MoveContext,
  { workspaceId, endpoints, ...part }: BodyOf<Api['internalPutEndpoints']>,
): Promise<void> {
  const { movedEndpoints, announce, follow } = context;
  const sealed = endpoints.map((endpoint) => sealedAgain(requireKeys(context), endpoint));
  const ids = await movedEndpoints.put(workspaceId, { ...part, endpoints: sealed });
  if (ids === null)
    throw new Fault('conflict', { message: 'Another workspace of this cell has an endpoint with this id' });
  if (!part.isLast) return;
  announce(ids);
  follow(workspaceId);
}

export async function endEndpoints(
  { movedEndpoints, announce, follow }: MoveContext,
  { workspaceId, resume }: BodyOf<Api['internalEndEndpoints']>,
): Promise<void> {
  announce(await (resume ? movedEndpoints.resume(workspaceId) : movedEndpoints.end(workspaceId)));
  if (resume) follow(workspaceId);
}

function opened(keys: SecretKeys, { secrets, ...endpoint }: StoredEndpoint): MovedEndpoint {
  return {
    ...endpoint,
    secrets: secrets.map(({ id, keyId, sealed, createdAt, expiresAt }) => ({
      id,
      secret: secretText(unsealSecret(keys, endpoint.id, { keyId, sealed: Buffer.from(sealed, 'hex') })),
      createdAt,
      expiresAt,
    })),
  };
}

function sealedAgain(keys: SecretKeys, { secrets, ...endpoint }: MovedEndpoint): NewMovedEndpoint {
  return {
    ...endpoint,
    secrets: secrets.map(({ secret, ...rest }) => ({ ...rest, ...sealSecret(keys, endpoint.id, secretOf(secret)) })),
  };
}

/** The bytes of a secret as its owner has it. */
function secretOf(text: string): Buffer {
  return Buffer.from(text.slice(text.indexOf('_') + 1), 'base64');
}

function startOf(endpointId: string): DeliveryCursor {
  return { endpointId, kind: 'retries', at: null, id: NO_ID };
}

/** After the retries of an endpoint come its first attempts, and then the next endpoint. */
function partAfter({ endpointId, kind }: DeliveryCursor, ids: readonly string[]): DeliveryCursor | null {
  if (kind === 'retries') return { endpointId, kind: 'firsts', at: null, id: NO_ID };
  const next = ids[ids.indexOf(endpointId) + 1];
  return next === undefined ? null : startOf(next);
}

function cursorOf(text: string): DeliveryCursor {
  try {
    return JSON.parse(text) as DeliveryCursor;
  } catch (cause) {
    throw new Fault('validation_failed', { message: 'body/after must be the `next` of an earlier answer', cause });
  }
}
