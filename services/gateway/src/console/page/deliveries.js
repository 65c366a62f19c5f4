/** @import { WebhookDelivery } from '@wts/contracts' */
/** @import { Context } from './main.js' */
/** @import { PollState } from './poll.js' */
/** @import { DeliveryPlace } from './routes.js' */
import { button, fill, h, keyedList, setText } from './dom.js';
import { hrefOf } from './routes.js';
import { count, deliveryState, deliveryText, pollText, time } from './words.js';

const PAGE_SIZE = 25;

/**
 * The list of the deliveries of an endpoint: one page of it, asked for again and again, so that older pages are live too.
 */
export class Deliveries {
  /** The `createdAt` before which each page begins, from the second page to this one. @type {string[]} */
  #befores = [];
  /** @type {readonly WebhookDelivery[]} */
  #shown = [];
  #hasOlder = false;
  #isEnabled = true;
  #selected = '';
  /** Ids of the newest page when it was read last; null before. @type {Set<string> | null} */
  #known = null;
  #place;
  #reload;
  #context;
  #list = h('ol', { class: 'deliveries' });
  #empty = h('p', { class: 'empty', hidden: true }, 'No deliveries here. Send a test event, or change a task.');
  #state = h('span', { class: 'quiet', id: 'poll-state' });
  #title = h('h2', { id: 'deliveries-title', tabindex: '-1' }, 'Deliveries');
  #newest = button('Newest', () => this.#turn([]));
  #newer = button('Newer', () => this.#turn(this.#befores.slice(0, -1)));
  #older = button('Older', () => this.#turn([...this.#befores, this.#shown.at(-1)?.createdAt ?? '']));
  #pause;
  #show = keyedList(this.#list, (/** @type {WebhookDelivery} */ delivery) => this.#row(delivery));

  /**
   * @param {Context} context
   * @param {{ workspaceId: string, endpointId: string }} place
   * @param {{ reload: () => void, pause: () => boolean }} poll `pause` pauses or continues, and returns which
   */
  constructor(context, place, { reload, pause }) {
    this.#context = context;
    this.#place = place;
    this.#reload = reload;
    this.#pause = button('Pause', () => fill(this.#pause, pause() ? 'Continue' : 'Pause'));
    this.element = h(
      'section',
      { 'aria-labelledby': 'deliveries-title', class: 'panel list' },
      h('div', { class: 'heading' }, this.#title, h('div', { class: 'row' }, this.#state, this.#pause)),
      this.#empty,
      this.#list,
      h('nav', { class: 'row', 'aria-label': 'Pages of deliveries' }, this.#newest, this.#newer, this.#older),
    );
  }

  /**
   * Reads the page again. Returns true when it has changed.
   * @param {AbortSignal} signal
   * @param {Promise<boolean>} isEnabled whether the endpoint is, by a call in parallel
   */
  async read(signal, isEnabled) {
    const before = this.#befores.at(-1);
    // One more than is shown, to know whether there is an older page.
    const page = { limit: PAGE_SIZE + 1, ...(before === undefined ? {} : { before }) };
    const reading = this.#context.api.listDeliveries(this.#place.endpointId, page, signal);
    const [{ deliveries }, isEnabledNow] = await Promise.all([reading, isEnabled]);
    this.#isEnabled = isEnabledNow;
    const shown = deliveries.slice(0, PAGE_SIZE);
    const isChanged = JSON.stringify(shown) !== JSON.stringify(this.#shown);
    this.#shown = shown;
    this.#hasOlder = deliveries.length > PAGE_SIZE;
    if (before === undefined) this.#announce(shown);
    this.#draw();
    return isChanged;
  }

  /** @param {PollState} state */
  showState(state) {
    setText(this.#state, pollText(state));
    this.#state.classList.toggle('failed', state.kind === 'failed');
  }

  /** @param {DeliveryPlace | undefined} delivery */
  select(delivery) {
    const previous = this.#selected;
    this.#selected = delivery?.id ?? '';
    this.#draw();
    if (delivery !== undefined) return;
    const link = this.#list.querySelector(`a[data-id="${CSS.escape(previous)}"]`);
    if (link instanceof HTMLElement) link.focus();
    else this.#title.focus();
  }

  /** @param {string[]} befores */
  #turn(befores) {
    this.#befores = befores;
    this.#reload();
    this.#title.focus();
    this.#title.scrollIntoView({ block: 'nearest' });
  }

  #draw() {
    this.#show(this.#shown);
    this.#empty.hidden = this.#shown.length > 0;
    this.#older.disabled = !this.#hasOlder;
    this.#newer.disabled = this.#befores.length === 0;
    this.#newest.disabled = this.#befores.length === 0;
    setText(this.#title, this.#befores.length === 0 ? 'Deliveries' : `Deliveries, page ${this.#befores.length + 1}`);
  }

  /** @param {readonly WebhookDelivery[]} newest */
  #announce(newest) {
    const added = newest.filter(({ id }) => this.#known?.has(id) === false).length;
    if (added > 0) this.#context.announce(count(added, 'new delivery'));
    this.#known = new Set(newest.map(({ id }) => id));
  }

  /** @param {WebhookDelivery} delivery */
  #row({ id, createdAt, eventType }) {
    const delivery = { id, createdAtMs: Date.parse(createdAt) };
    const badge = h('span');
    const text = h('span', { class: 'quiet' });
    const link = h(
      'a',
      { href: hrefOf({ ...this.#place, delivery }), 'data-id': id },
      badge,
      ' ',
      h('strong', {}, eventType),
      ' ',
      time(createdAt),
      ' ',
      text,
    );
    return {
      element: h('li', {}, link),
      /** @param {WebhookDelivery} delivery */
      update: (delivery) => {
        const { kind, label } = deliveryState(delivery, this.#isEnabled);
        badge.className = `badge ${kind}`;
        setText(badge, label);
        setText(text, deliveryText(delivery, this.#isEnabled));
        if (id === this.#selected) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      },
    };
  }
}
