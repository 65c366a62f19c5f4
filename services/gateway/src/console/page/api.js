/** @import { EndpointChange, ReplyOf, webhookApi, workspaceApi } from '@wts/contracts' */

/**
 * Calls the operations that the console uses. The key is sent only in the Authorization header, and only to the address under
 * which the page was opened, also when a proxy serves it under a path prefix.
 */

const ANSWER_MS_MAX = 30_000;
/** What an Authorization header can hold. */
const KEY = /^[\x21-\x7e]{1,4096}$/;

/**
 * @typedef {object} ErrorFields
 * @property {string} [code]
 * @property {string} [error]
 * @property {string} [message]
 * @property {string} [requestId]
 * @property {number} [retryAfterSeconds]
 */

/** An answer that is an error, or no answer at all: then `status` is 0. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {ErrorFields} fields
   */
  constructor(status, { code = '', error, message, requestId, retryAfterSeconds }) {
    super(message ?? error ?? `The service answered with HTTP status ${status}.`);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** The same request can succeed later. */
  get isTemporary() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/**
 * @typedef {object} Call
 * @property {'GET' | 'POST' | 'PATCH' | 'DELETE'} [method]
 * @property {object} [body]
 * @property {string} [idempotencyKey]
 * @property {AbortSignal} [signal]
 */

/**
 * @typedef {object} Api
 * @property {() => Promise<ReplyOf<typeof workspaceApi.listWorkspaces>>} listWorkspaces
 * @property {() => Promise<ReplyOf<typeof webhookApi.listEventTypes>>} listEventTypes
 * @property {(workspaceId: string, signal: AbortSignal) => Promise<ReplyOf<typeof webhookApi.listEndpoints>>} listEndpoints
 * @property {(body: object, idempotencyKey: string) => Promise<ReplyOf<typeof webhookApi.createEndpoint>>} createEndpoint
 * @property {(id: string, signal: AbortSignal) => Promise<ReplyOf<typeof webhookApi.getEndpoint>>} getEndpoint
 * @property {(id: string, body: EndpointChange) => Promise<ReplyOf<typeof webhookApi.updateEndpoint>>} updateEndpoint
 * @property {(id: string) => Promise<ReplyOf<typeof webhookApi.deleteEndpoint>>} deleteEndpoint
 * @property {(id: string, idempotencyKey: string) => Promise<ReplyOf<typeof webhookApi.rotateSecret>>} rotateSecret
 * @property {(id: string, idempotencyKey: string) => Promise<ReplyOf<typeof webhookApi.testEndpoint>>} testEndpoint
 * @property {(id: string, since: string) => Promise<ReplyOf<typeof webhookApi.replayDeliveries>>} replayDeliveries
 * @property {(id: string, page: Page, signal: AbortSignal) => Promise<ReplyOf<typeof webhookApi.listDeliveries>>} listDeliveries
 * @property {(id: string, deliveryId: string, signal: AbortSignal) => Promise<ReplyOf<typeof webhookApi.listAttempts>>} listAttempts
 * @property {(id: string, deliveryId: string) => Promise<ReplyOf<typeof webhookApi.retryDelivery>>} retryDelivery
 */

/** @typedef {{ limit: number, before?: string }} Page */

/**
 * @param {string} key
 * @returns {Api}
 */
export function openApi(key) {
  if (!KEY.test(key)) {
    throw new Refusal(401, { message: 'An API key has no spaces and only letters, digits and signs of ASCII.' });
  }
  /**
   * @template T
   * @param {string} path
   * @param {Call} [options]
   * @returns {Promise<T>}
   */
  const call = (path, options = {}) => send(key, path, options);
  /** @param {string[]} path */
  const at = (...path) => `api/webhooks/${path.map(encodeURIComponent).join('/')}`;

  return {
    listWorkspaces: () => call('api/workspaces'),
    listEventTypes: () => call('api/webhooks/event-types'),
    listEndpoints: (workspaceId, signal) => call(`api/webhooks?${query({ workspaceId })}`, { signal }),
    createEndpoint: (body, idempotencyKey) => call('api/webhooks', { method: 'POST', body, idempotencyKey }),
    getEndpoint: (id, signal) => call(at(id), { signal }),
    updateEndpoint: (id, body) => call(at(id), { method: 'PATCH', body }),
    deleteEndpoint: (id) => call(at(id), { method: 'DELETE' }),
    rotateSecret: (id, idempotencyKey) => call(at(id, 'rotate-secret'), { method: 'POST', idempotencyKey }),
    testEndpoint: (id, idempotencyKey) => call(at(id, 'test'), { method: 'POST', idempotencyKey }),
    replayDeliveries: (id, since) => call(at(id, 'replay'), { method: 'POST', body: { since } }),
    listDeliveries: (id, page, signal) => call(`${at(id, 'deliveries')}?${query({ ...page })}`, { signal }),
    listAttempts: (id, deliveryId, signal) => call(at(id, 'deliveries', deliveryId, 'attempts'), { signal }),
    retryDelivery: (id, deliveryId) => call(at(id, 'deliveries', deliveryId, 'retry'), { method: 'POST' }),
  };
}

/** A UUID. `crypto.randomUUID` is missing where the page is opened by plain HTTP. */
export function newIdempotencyKey() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0'));
  return hex.join('');
}

/** @param {Record<string, string | number>} fields */
function query(fields) {
  const texts = Object.entries(fields).map(([name, value]) => [name, String(value)]);
  return new URLSearchParams(texts).toString();
}

/**
 * @template T
 * @param {string} key
 * @param {string} path
 * @param {Call} call
 * @returns {Promise<T>}
 */
async function send(key, path, { method = 'GET', body, idempotencyKey, signal }) {
  const deadline = AbortSignal.timeout(ANSWER_MS_MAX);
  let response;
  let reply;
  try {
    response = await fetch(new URL(path, new URL('.', location.href)), {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    reply = await response.text();
  } catch {
    signal?.throwIfAborted();
    throw new Refusal(0, { message: 'The service did not answer.' });
  }
  const answer = parse(reply);
  if (response.ok && answer !== null) return /** @type {T} */ (answer);
  // A proxy in between may answer with a page of its own.
  throw new Refusal(response.status, answer ?? {});
}

/**
 * @param {string} text
 * @returns {object | null}
 */
function parse(text) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
