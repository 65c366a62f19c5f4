/** @import { WebhookEndpoint } from '@wts/contracts' */
/** @import { Context, View } from './main.js' */
/** @import { Route } from './routes.js' */
import { newIdempotencyKey } from './api.js';
import { Deliveries } from './deliveries.js';
import { Delivery } from './delivery.js';
import { ask, showSecret } from './dialogs.js';
import { button, h } from './dom.js';
import { endpointForm } from './endpoint-form.js';
import { Poll } from './poll.js';
import { hrefOf } from './routes.js';
import { count, showEndpoint } from './words.js';

const DAY_MS = 86_400_000;

/**
 * One endpoint: its state, what can be done with it, its deliveries, and one of them.
 * @param {Context} context
 * @param {Route & { workspaceId: string, endpointId: string }} route
 * @returns {View}
 */
export function endpointView(context, { workspaceId, endpointId, delivery }) {
  const place = { workspaceId, endpointId };
  const head = heading(context, workspaceId);
  /** @type {Delivery | null} */
  let detail = null;
  const poll = new Poll(read, (state) => {
    deliveries.showState(state);
    context.onPoll(state);
  });
  const reload = () => poll.now();
  const pause = () => {
    poll.pause(!poll.isPaused);
    return poll.isPaused;
  };
  const deliveries = new Deliveries(context, place, { reload, pause });
  const columns = h('div', { class: 'columns' }, deliveries.element);

  /** @param {AbortSignal} signal */
  async function read(signal) {
    const reading = context.api.getEndpoint(endpointId, signal);
    const isEnabled = reading.then(({ endpoint }) => endpoint.enabled);
    const [{ endpoint }, isListChanged, isDetailChanged] = await Promise.all([
      reading,
      deliveries.read(signal, isEnabled),
      detail?.read(signal, isEnabled) ?? false,
    ]);
    head.show(endpoint, reload);
    return isListChanged || isDetailChanged;
  }

  /** @param {Route['delivery']} next */
  function select(next) {
    if (detail?.isAt(next)) return;
    detail?.element.remove();
    detail = next === undefined ? null : new Delivery(context, { ...place, delivery: next }, reload);
    if (detail !== null) columns.append(detail.element);
    columns.classList.toggle('has-detail', detail !== null);
    deliveries.select(next);
    poll.now();
  }
  if (delivery === undefined) poll.now();
  else select(delivery);
  return {
    title: 'Endpoint',
    element: h('div', {}, head.element, columns),
    focus: () => (detail ?? head).focus(),
    stop: () => poll.stop(),
    update: (route) => {
      if (route.endpointId !== endpointId || route.workspaceId !== workspaceId) return false;
      select(route.delivery);
      detail?.focus();
      return true;
    },
  };
}

/**
 * @param {Context} context
 * @param {string} workspaceId
 */
function heading(context, workspaceId) {
  const title = h('h1', { tabindex: '-1', class: 'foreign' }, 'Endpoint');
  const badge = h('span');
  const purpose = h('p', { class: 'foreign' });
  const events = h('p', { class: 'quiet' });
  const state = h('p', { class: 'notice', hidden: true });
  const actions = h('div', { class: 'actions', role: 'group', 'aria-label': 'Actions on the endpoint' });
  /** @type {WebhookEndpoint | undefined} */
  let shown;
  const element = h(
    'div',
    { class: 'endpoint' },
    h('nav', { 'aria-label': 'Breadcrumb' }, h('a', { href: hrefOf({ workspaceId }) }, '← All endpoints')),
    h('div', { class: 'heading' }, title, badge),
    purpose,
    events,
    state,
    actions,
  );
  return {
    element,
    focus: () => title.focus(),
    /**
     * @param {WebhookEndpoint} endpoint
     * @param {() => void} reload
     */
    show: (endpoint, reload) => {
      showEndpoint({ badge, title, purpose, events, state }, endpoint);
      state.hidden = state.textContent === '';
      // The buttons stay the same elements, so that the one in use keeps the focus.
      if (shown === undefined) actions.append(...buttonsOf(context, () => shown ?? endpoint, reload));
      shown = endpoint;
      for (const toggled of actions.querySelectorAll('button[data-when]')) {
        const isOn = toggled.getAttribute('data-when') === String(endpoint.enabled);
        const hadFocus = toggled === document.activeElement;
        toggled.toggleAttribute('hidden', !isOn);
        if (!isOn && hadFocus) title.focus();
      }
    },
  };
}

/**
 * @param {Context} context
 * @param {() => WebhookEndpoint} endpoint as it was read last
 * @param {() => void} reload
 */
function buttonsOf(context, endpoint, reload) {
  const { id, workspaceId } = endpoint();
  const { api } = context;
  /**
   * @param {string} label
   * @param {() => Promise<string>} act returns what has been done
   * @param {Record<string, string>} more
   */
  const doing = (label, act, more) => {
    const pressed = button(label, () => void run(), more);
    const run = async () => {
      pressed.setAttribute('aria-busy', 'true');
      try {
        context.say(await act());
        reload();
      } catch (error) {
        context.fail(error);
      }
      pressed.removeAttribute('aria-busy');
    };
    return pressed;
  };
  const test = async () => {
    await api.testEndpoint(id, newIdempotencyKey());
    return 'The test event is queued.';
  };
  /** @param {boolean} enabled */
  const enable = (enabled) => async () => {
    await api.updateEndpoint(id, { enabled });
    return enabled ? 'The endpoint is enabled. Pending deliveries continue.' : 'The endpoint is disabled.';
  };
  return [
    doing('Send test event', test, { class: 'primary', 'data-when': 'true' }),
    doing('Enable', enable(true), { class: 'primary', 'data-when': 'false' }),
    button('Replay failed…', () => replay(context, id, reload), { 'data-when': 'true' }),
    button('Edit…', () => edit(context, endpoint(), reload)),
    button('Rotate secret…', () => rotate(context, id, reload)),
    doing('Disable', enable(false), { 'data-when': 'true' }),
    button('Delete…', () => remove(context, { id, workspaceId, url: endpoint().url }), { class: 'danger' }),
  ];
}

/**
 * @param {Context} context
 * @param {string} id
 * @param {() => void} reload
 */
function replay(context, id, reload) {
  const since = h('input', { id: 'since', type: 'datetime-local', required: true, step: '1' });
  since.value = localTime(new Date(Date.now() - DAY_MS));
  ask({
    title: 'Replay failed deliveries',
    content: [
      h('p', {}, 'Each delivery that failed for good and was created since then gets one more attempt.'),
      h('label', { for: 'since' }, 'Created since (your local time)'),
      since,
    ],
    label: 'Replay',
    act: async () => {
      const { count: amount } = await context.api.replayDeliveries(id, new Date(since.value).toISOString());
      return () => {
        context.say(`${count(amount, 'failed delivery')} will be attempted again.`);
        reload();
      };
    },
  });
}

/**
 * Sends what was changed and nothing else, so that what another person changed meanwhile stays.
 * @param {Context} context
 * @param {WebhookEndpoint} before
 * @param {() => void} reload
 */
function edit(context, before, reload) {
  const form = endpointForm(context, before, 'Retries and pending deliveries go to a new URL, too.');
  ask({
    title: 'Edit the endpoint',
    content: form.content,
    label: 'Save',
    act: async () => {
      const fields = Object.entries(form.read());
      const kept = new Map(Object.entries(before));
      const changed = fields.filter(([name, value]) => String(value) !== String(kept.get(name)));
      if (changed.length > 0) await context.api.updateEndpoint(before.id, Object.fromEntries(changed));
      return () => {
        context.say(changed.length > 0 ? 'The endpoint is changed.' : 'Nothing was changed.');
        reload();
      };
    },
  });
}

/**
 * @param {Context} context
 * @param {string} id
 * @param {() => void} reload
 */
function rotate(context, id, reload) {
  // The same for each press in this dialog, so that a lost answer makes no second secret.
  const key = newIdempotencyKey();
  ask({
    title: 'Rotate the signing secret',
    content: [
      h(
        'p',
        {},
        'A new secret is made and shown once. For 24 hours deliveries are signed with the old and the new one.',
      ),
    ],
    label: 'Rotate secret',
    act: async () => {
      const { secret } = await context.api.rotateSecret(id, key);
      return () => {
        reload();
        showSecret('The new secret', secret);
      };
    },
  });
}

/**
 * @param {Context} context
 * @param {Pick<WebhookEndpoint, 'id' | 'workspaceId' | 'url'>} endpoint
 */
function remove(context, { id, workspaceId, url }) {
  ask({
    title: 'Delete this endpoint?',
    content: [
      h('p', { class: 'foreign' }, h('code', {}, url)),
      h('p', {}, 'Its deliveries, pending ones too, and its secrets are deleted. This cannot be undone.'),
    ],
    label: 'Delete endpoint',
    isDangerous: true,
    act: async () => {
      await context.api.deleteEndpoint(id);
      return () => {
        context.go({ workspaceId });
        context.say('The endpoint is deleted.');
      };
    },
  });
}

/** @param {Date} date */
function localTime(date) {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}
