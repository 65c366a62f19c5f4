/** @import { WebhookEndpoint } from '@wts/contracts' */
/** @import { Context, View } from './main.js' */
import { newIdempotencyKey } from './api.js';
import { ask, showSecret } from './dialogs.js';
import { button, h, keyedList, setText } from './dom.js';
import { endpointForm } from './endpoint-form.js';
import { Poll } from './poll.js';
import { hrefOf } from './routes.js';
import { pollText, showEndpoint } from './words.js';

/**
 * The endpoints of a workspace.
 * @param {Context} context
 * @param {string} workspaceId
 * @returns {View}
 */
export function endpointsView(context, workspaceId) {
  const title = h('h1', { tabindex: '-1' }, 'Endpoints');
  const list = h('ul', { class: 'cards' });
  const live = h('span', { class: 'quiet' });
  const create = button('New endpoint', () => createEndpoint(context, workspaceId), { class: 'primary' });
  const empty = h(
    'div',
    { class: 'panel empty', hidden: true },
    h('p', {}, 'No endpoints yet.'),
    h(
      'p',
      {},
      'An endpoint is an https:// address of your program. It gets a signed request for each event of this workspace, such as a new task. Failed requests are repeated for about three days. “New endpoint” adds one and shows the secret that verifies its requests.',
    ),
  );
  const show = keyedList(list, (/** @type {WebhookEndpoint} */ endpoint) => card(endpoint));
  const poll = new Poll(
    async (signal) => {
      const { endpoints } = await context.api.listEndpoints(workspaceId, signal);
      empty.hidden = endpoints.length > 0;
      show(endpoints);
      return false;
    },
    (state) => {
      setText(live, pollText(state));
      context.onPoll(state);
    },
  );
  poll.now();
  return {
    title: 'Endpoints',
    element: h('div', {}, h('div', { class: 'heading' }, title, h('div', { class: 'row' }, live, create)), empty, list),
    focus: () => title.focus(),
    stop: () => poll.stop(),
  };
}

/** @param {WebhookEndpoint} endpoint */
function card({ id, workspaceId }) {
  const link = h('a', { href: hrefOf({ workspaceId, endpointId: id }) });
  const badge = h('span');
  const purpose = h('p', { class: 'foreign' });
  const events = h('p', { class: 'quiet' });
  const state = h('p', { class: 'quiet' });
  const element = h(
    'li',
    {},
    h('div', { class: 'heading' }, h('h2', { class: 'foreign' }, link), badge),
    purpose,
    events,
    state,
  );
  return {
    element,
    /** @param {WebhookEndpoint} endpoint */
    update: (endpoint) => showEndpoint({ badge, title: link, purpose, events, state }, endpoint),
  };
}

/**
 * @param {Context} context
 * @param {string} workspaceId
 */
function createEndpoint(context, workspaceId) {
  const form = endpointForm(context, { url: '', description: '', eventTypes: [] });
  let sent = { text: '', key: '' };
  ask({
    title: 'New endpoint',
    content: form.content,
    label: 'Create endpoint',
    act: async () => {
      const body = { workspaceId, ...form.read() };
      // The same form sent again after a lost answer makes no second endpoint.
      const text = JSON.stringify(body);
      if (text !== sent.text) sent = { text, key: newIdempotencyKey() };
      const { endpoint, secret } = await context.api.createEndpoint(body, sent.key);
      return () => {
        context.go({ workspaceId, endpointId: endpoint.id });
        showSecret('The endpoint is created', secret);
      };
    },
  });
}
