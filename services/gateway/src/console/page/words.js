/** @import { PollState } from './poll.js' */
/** @import { WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '@wts/contracts' */
import { Refusal } from './api.js';
import { h, setText } from './dom.js';

/** The page in words: states, times, and what to do about an error. */

/**
 * What to do, where the message of the service does not say it already.
 * @type {Readonly<Record<string, string>>}
 */
const ADVICE = {
  authorization_required: 'Enter an API key.',
  authorization_malformed: 'Enter the API key as it was shown when it was created.',
  forbidden: 'Only owners and admins of a workspace manage its webhooks. Choose another workspace, or ask an owner.',
  not_found: 'It was deleted, or this key has no access to it.',
  endpoint_limit_reached: 'Delete an endpoint that is no longer needed first.',
  unavailable: 'Wait a moment and try again.',
  internal: 'Try again. If it stays, report it to the operator.',
};

/**
 * In place of the message of the service, which speaks to programs.
 * @type {Readonly<Record<string, string>>}
 */
const INSTEAD = {
  insufficient_scope: 'This key is read-only. Webhooks need a full-access key of a workspace owner or admin.',
};

/** @type {Readonly<Record<string, string>>} */
const FAILURES = {
  dns_error: 'The name of the endpoint could not be resolved.',
  blocked_address: 'The name of the endpoint leads to an address that is not public.',
  connection_refused: 'The endpoint refused the connection.',
  connection_reset: 'The endpoint closed the connection before it answered.',
  connect_timeout: 'No connection could be made in time.',
  tls_error: 'TLS failed. Check the certificate of the endpoint.',
  timeout: 'The endpoint did not answer within 10 seconds.',
  http_status: 'The endpoint answered with an error status.',
  invalid_response: 'The answer of the endpoint is not valid HTTP.',
  interrupted: 'The service stopped during the attempts before, so nothing was sent this time.',
};

/** @param {unknown} error */
export function explain(error) {
  if (!(error instanceof Refusal)) return `The page failed: ${String(error)}. Reload it.`;
  if (error.status === 0) return 'The service cannot be reached. Check the network connection.';
  const message = INSTEAD[error.code] ?? sentence(error.message.replaceAll('`', ''));
  const sentences = [message, ADVICE[error.code] ?? ''];
  if (error.retryAfterSeconds !== undefined) sentences.push(`Try again in ${seconds(error.retryAfterSeconds)}.`);
  if (error.requestId !== undefined && error.status >= 500) sentences.push(`Request id: ${error.requestId}.`);
  return sentences.filter((text, index, all) => text !== '' && all.indexOf(text) === index).join(' ');
}

/** @param {PollState} state */
export function pollText({ kind, error, nextInMs }) {
  if (kind === 'live') return `Live, ${CLOCK.format(new Date())}`;
  if (kind === 'paused') return 'Paused';
  if (nextInMs === undefined) return 'Stopped';
  return `${explain(error)} Next try in ${seconds(nextInMs / 1_000)}.`;
}

/** @param {string | null} error */
export function failureText(error) {
  if (error === null) return '';
  return FAILURES[error] ?? sentence(error);
}

/**
 * Writes what an endpoint is into the elements that show it.
 * @param {Record<'badge' | 'title' | 'purpose' | 'events' | 'state', HTMLElement>} elements
 * @param {WebhookEndpoint} endpoint
 */
export function showEndpoint({ badge, title, purpose, events, state }, endpoint) {
  const { kind, label } = stateOf(endpoint);
  badge.className = `badge ${kind}`;
  setText(badge, label);
  setText(title, endpoint.url);
  setText(purpose, endpoint.description);
  setText(events, eventTypesText(endpoint.eventTypes));
  setText(state, stateText(endpoint));
}

/**
 * @param {Pick<WebhookEndpoint, 'enabled' | 'disabledReason' | 'consecutiveFailures'>} endpoint
 * @returns {{ kind: 'good' | 'bad' | 'off', label: string }}
 */
function stateOf({ enabled, consecutiveFailures }) {
  if (!enabled) return { kind: 'off', label: 'Disabled' };
  if (consecutiveFailures > 0) return { kind: 'bad', label: 'Failing' };
  return { kind: 'good', label: 'Enabled' };
}

/** @param {WebhookEndpoint} endpoint */
function stateText({ enabled, disabledAt, disabledReason, consecutiveFailures }) {
  if (enabled) {
    if (consecutiveFailures === 0) return '';
    return `${count(consecutiveFailures, 'attempt')} failed since the last success. Deliveries are retried; after about three days without a success the endpoint is disabled.`;
  }
  const since = disabledAt === null ? '' : ` since ${timeText(disabledAt)}`;
  const why =
    disabledReason === 'gone'
      ? 'It answered 410 Gone.'
      : disabledReason === 'consecutive_failures'
        ? 'It failed for about three days.'
        : 'A person disabled it.';
  return `Disabled${since}: ${why} Nothing is sent. Pending deliveries wait for at most 30 days until it is enabled again.`;
}

/** @param {readonly string[]} eventTypes */
function eventTypesText(eventTypes) {
  return eventTypes.length === 0 ? 'Every event type' : eventTypes.join(', ');
}

/**
 * @param {WebhookDelivery} delivery
 * @param {boolean} isEnabled of its endpoint: nothing is sent to a disabled one
 * @returns {{ kind: 'good' | 'bad' | 'waiting' | 'off', label: string }}
 */
export function deliveryState({ status, attemptCount }, isEnabled) {
  if (status === 'succeeded') return { kind: 'good', label: 'Succeeded' };
  if (status === 'failed') return { kind: 'bad', label: 'Failed' };
  if (!isEnabled) return { kind: 'off', label: 'Waiting' };
  return attemptCount === 0 ? { kind: 'waiting', label: 'Pending' } : { kind: 'waiting', label: 'Retrying' };
}

/** When a delivery to a disabled endpoint goes on. */
export const WHEN_ENABLED = 'when the endpoint is enabled';

/**
 * @param {WebhookDelivery} delivery
 * @param {boolean} isEnabled of its endpoint
 */
export function deliveryText({ attemptCount, lastStatusCode, lastError, nextAttemptAt }, isEnabled) {
  const answer = lastStatusCode === null ? failureText(lastError).replace(/\.$/, '') : `HTTP ${lastStatusCode}`;
  const when = nextAttemptAt === null ? '' : isEnabled ? relative(nextAttemptAt) : WHEN_ENABLED;
  const next = when === '' ? '' : `next attempt ${when}`;
  return [attemptCount === 0 ? '' : count(attemptCount, 'attempt'), answer, next].filter(Boolean).join(' · ');
}

/** @param {WebhookAttempt} attempt */
export function attemptText({ error, durationMs }) {
  if (error === null || error === 'http_status') return `after ${durationMs} ms`;
  return `after ${durationMs} ms. ${failureText(error)}`;
}

/**
 * @param {number} amount
 * @param {string} thing
 */
export function count(amount, thing) {
  if (amount === 1) return `1 ${thing}`;
  return `${amount} ${thing.endsWith('y') ? `${thing.slice(0, -1)}ies` : `${thing}s`}`;
}

const FULL = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** @param {string} iso */
export function timeText(iso) {
  return FULL.format(new Date(iso));
}

/** @param {string} iso */
export function time(iso) {
  return h('time', { datetime: iso, title: iso }, timeText(iso));
}

/** @type {readonly (readonly [Intl.RelativeTimeFormatUnit, number])[]} */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** @param {string} iso */
export function relative(iso) {
  const inSeconds = Math.round((Date.parse(iso) - Date.now()) / 1_000);
  if (inSeconds <= 0) return 'now';
  const [unit, size] = UNITS.find(([, size]) => inSeconds >= size) ?? ['second', 1];
  return RELATIVE.format(Math.round(inSeconds / size), unit);
}

/** @param {number} amount */
function seconds(amount) {
  return count(Math.ceil(amount), 'second');
}

/** @param {string} text */
function sentence(text) {
  return /[.!?]$/.test(text) || text === '' ? text : `${text}.`;
}
