/** @import { WebhookEndpoint } from '@wts/contracts' */
/** @import { Context, View } from './main.js' */
import { newIdempotencyKey } from './api.js';
import { ask, showSecret } from './dialogs.js';
import { button, fill, h, keyedList, setText } from './dom.js';
import { Poll } from './poll.js';
import { hrefOf } from './routes.js';
import { eventTypesText, pollText, stateOf, stateText } from './words.js';

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
  const empty = h(
    'p',
    { class: 'empty', hidden: true },
    'No endpoints yet. An endpoint receives the events of this workspace.',
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
  const create = button('New endpoint', () => createEndpoint(context, workspaceId), { class: 'primary' });
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
    update: (endpoint) => {
      const { kind, label } = stateOf(endpoint);
      badge.className = `badge ${kind}`;
      setText(badge, label);
      setText(link, endpoint.url);
      setText(purpose, endpoint.description);
      setText(events, eventTypesText(endpoint.eventTypes));
      setText(state, stateText(endpoint));
    },
  };
}

/**
 * @param {Context} context
 * @param {string} workspaceId
 */
function createEndpoint(context, workspaceId) {
  const url = h('input', {
    id: 'new-url',
    type: 'url',
    required: true,
    maxlength: '2048',
    placeholder: 'https://',
    autocomplete: 'off',
    'aria-describedby': 'new-url-hint',
  });
  const description = h('input', { id: 'new-description', type: 'text', maxlength: '255', autocomplete: 'off' });
  const types = h('div', { class: 'types' });
  const content = [
    h('label', { for: 'new-url' }, 'URL'),
    url,
    h('p', { id: 'new-url-hint', class: 'quiet' }, 'Public, with https://, on port 443 or from 1024 on.'),
    h('label', { for: 'new-description' }, 'Description (optional)'),
    description,
    h('fieldset', {}, h('legend', {}, 'Event types (none chosen: every type)'), types),
  ];
  void context.api.listEventTypes().then(
    ({ eventTypes }) =>
      fill(
        types,
        ...eventTypes.map((type) => h('label', {}, h('input', { type: 'checkbox', value: type }), ` ${type}`)),
      ),
    (/** @type {unknown} */ error) => context.fail(error),
  );
  let sent = { text: '', key: '' };
  ask({
    title: 'New endpoint',
    content,
    label: 'Create endpoint',
    act: async () => {
      const eventTypes = [...types.querySelectorAll('input')]
        .filter(({ checked }) => checked)
        .map(({ value }) => value);
      const body = { workspaceId, url: url.value.trim(), description: description.value, eventTypes };
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
