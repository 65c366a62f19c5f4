/** @import { WebhookAttempt, WebhookDelivery } from '@wts/contracts' */
/** @import { Context } from './main.js' */
/** @import { DeliveryPlace, Route } from './routes.js' */
import { Refusal } from './api.js';
import { button, copyButton, fill, foreign, h, setText, whenChanged } from './dom.js';
import { hrefOf } from './routes.js';
import { attemptText, count, deliveryState, failureText, relative, time, WHEN_ENABLED } from './words.js';

/** More of a payload would make the page slow; the copy has all of it. */
const PAYLOAD_CHARACTERS_MAX = 100_000;

/** @typedef {WebhookDelivery & { readonly isEnabled: boolean }} Shown with whether its endpoint is enabled */

/** One delivery: its state, its attempts with their answers, and its payload. */
export class Delivery {
  #context;
  #endpointId;
  #place;
  #attemptCount = -1;
  /** @type {WebhookDelivery | null} */
  #delivery = null;
  #badge = h('span');
  #title = h('h2', { id: 'delivery-title', tabindex: '-1' }, 'Delivery');
  #facts = h('dl');
  #next = h('dd');
  #attempts = h('ol', { class: 'attempts', reversed: true });
  #payload = h('pre', { tabindex: '0', role: 'region', 'aria-label': 'Payload' });
  #retry;
  #showFacts;
  #showAttempts;
  #showPayload;

  /**
   * @param {Context} context
   * @param {Required<Route>} route
   * @param {() => void} reload
   */
  constructor(context, { workspaceId, endpointId, delivery }, reload) {
    this.#context = context;
    this.#endpointId = endpointId;
    this.#place = delivery;
    this.#retry = button('Retry now', () => this.#retryNow(reload), { disabled: true });
    this.#showFacts = whenChanged((/** @type {Shown} */ shown) => this.#drawFacts(shown));
    this.#showAttempts = whenChanged((/** @type {readonly WebhookAttempt[]} */ shown) => this.#drawAttempts(shown));
    this.#showPayload = whenChanged((/** @type {WebhookDelivery['payload']} */ payload) => this.#drawPayload(payload));
    this.element = h(
      'section',
      { 'aria-labelledby': 'delivery-title', class: 'panel detail' },
      h('div', { class: 'heading' }, this.#title, this.#badge),
      h(
        'div',
        { class: 'actions' },
        this.#retry,
        copyButton('Copy payload', () => JSON.stringify(this.#delivery?.payload, null, 2)),
        h('a', { class: 'button', href: hrefOf({ workspaceId, endpointId }) }, 'Close'),
      ),
      this.#facts,
      h('h3', {}, 'Attempts'),
      this.#attempts,
      h('h3', {}, 'Payload'),
      this.#payload,
    );
  }

  focus() {
    this.#title.focus();
  }

  /** @param {DeliveryPlace | undefined} place */
  isAt(place) {
    return place?.id === this.#place.id;
  }

  /**
   * Reads it again. Returns true when it has changed.
   * @param {AbortSignal} signal
   * @param {Promise<boolean>} isEnabled whether the endpoint is, by a call in parallel
   */
  async read(signal, isEnabled) {
    const { api } = this.#context;
    const { id, createdAtMs } = this.#place;
    // No two deliveries of an endpoint were created in the same millisecond.
    const page = { limit: 1, before: new Date(createdAtMs + 1).toISOString() };
    const reading = api.listDeliveries(this.#endpointId, page, signal);
    const [{ deliveries }, isEnabledNow] = await Promise.all([reading, isEnabled]);
    const delivery = deliveries[0];
    if (delivery?.id !== id) {
      throw new Refusal(410, { message: 'This delivery is not found. Deliveries are kept for 30 days.' });
    }
    if (delivery.attemptCount !== this.#attemptCount) {
      const { attempts } = await api.listAttempts(this.#endpointId, id, signal);
      this.#showAttempts(attempts);
      this.#attemptCount = delivery.attemptCount;
    }
    if (this.#delivery !== null && this.#delivery.status !== delivery.status) {
      this.#context.announce(`The delivery is now ${delivery.status}.`);
    }
    this.#delivery = delivery;
    this.#retry.disabled = !isEnabledNow;
    this.#showPayload(delivery.payload);
    const isChanged = this.#showFacts({ ...delivery, isEnabled: isEnabledNow });
    this.#drawNext(delivery, isEnabledNow);
    return isChanged;
  }

  #retryNow(/** @type {() => void} */ reload) {
    this.#retry.disabled = true;
    this.#context.api.retryDelivery(this.#endpointId, this.#place.id).then(
      () => {
        this.#context.say('One more attempt is queued.');
        reload();
      },
      (/** @type {unknown} */ error) => {
        this.#retry.disabled = false;
        this.#context.fail(error);
      },
    );
  }

  /** @param {Shown} delivery */
  #drawFacts(delivery) {
    const { kind, label } = deliveryState(delivery, delivery.isEnabled);
    this.#badge.className = `badge ${kind}`;
    setText(this.#badge, label);
    setText(this.#title, delivery.eventType);
    /** @type {[string, Node | string][]} */
    const facts = [
      ['Created', time(delivery.createdAt)],
      ['Event', h('code', {}, delivery.eventId)],
    ];
    if (delivery.completedAt !== null) facts.push(['Completed', time(delivery.completedAt)]);
    if (delivery.lastError !== null) facts.push(['Last error', failureText(delivery.lastError)]);
    fill(
      this.#facts,
      ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
      h('dt', {}, 'Next attempt'),
      this.#next,
    );
  }

  /**
   * @param {WebhookDelivery} delivery
   * @param {boolean} isEnabled of its endpoint
   */
  #drawNext({ nextAttemptAt, status, attemptCount }, isEnabled) {
    const none = status === 'failed' ? `None: it failed after ${count(attemptCount, 'attempt')}` : 'None';
    if (nextAttemptAt === null) setText(this.#next, none);
    else if (!isEnabled) setText(this.#next, WHEN_ENABLED);
    else fill(this.#next, time(nextAttemptAt), ` (${relative(nextAttemptAt)})`);
  }

  /** @param {readonly WebhookAttempt[]} attempts the newest first */
  #drawAttempts(attempts) {
    if (attempts.length === 0) return fill(this.#attempts, h('li', { class: 'quiet' }, 'None so far'));
    fill(
      this.#attempts,
      ...attempts.map((attempt) => {
        const { number, startedAt, statusCode, error, responseSnippet } = attempt;
        const label = `Answer to attempt ${number}`;
        return h(
          'li',
          { value: String(number) },
          h(
            'div',
            {},
            h(
              'strong',
              { class: error === null ? 'good' : 'bad' },
              statusCode === null ? 'No answer' : `HTTP ${statusCode}`,
            ),
            ` ${attemptText(attempt)}`,
          ),
          h('div', { class: 'quiet' }, time(startedAt)),
          responseSnippet !== null &&
            responseSnippet !== '' &&
            h(
              'pre',
              { class: 'snippet', tabindex: '0', role: 'region', 'aria-label': label },
              foreign(responseSnippet),
            ),
        );
      }),
    );
  }

  /** @param {WebhookDelivery['payload']} payload */
  #drawPayload(payload) {
    const text = JSON.stringify(payload, null, 2);
    const isLong = text.length > PAYLOAD_CHARACTERS_MAX;
    fill(this.#payload, foreign(isLong ? `${text.slice(0, PAYLOAD_CHARACTERS_MAX)}\n… shortened here` : text));
  }
}
