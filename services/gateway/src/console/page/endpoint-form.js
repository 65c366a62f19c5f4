/** @import { Context } from './main.js' */
import { fill, h } from './dom.js';
import { explain } from './words.js';

/** @typedef {{ url: string, description: string, eventTypes: readonly string[] }} EndpointFields */

/**
 * The fields of an endpoint that a person writes, to create one or to edit one.
 * @param {Context} context
 * @param {EndpointFields} initial
 * @param {string} [urlHint] what a person should know beside the form of a URL
 */
export function endpointForm({ api }, initial, urlHint = '') {
  const url = h('input', {
    id: 'endpoint-url',
    type: 'url',
    required: true,
    maxlength: '2048',
    placeholder: 'https://',
    autocomplete: 'off',
    'aria-describedby': 'endpoint-url-hint',
  });
  const description = h('input', { id: 'endpoint-description', type: 'text', maxlength: '255', autocomplete: 'off' });
  const types = h('div', { class: 'types' }, h('p', { class: 'quiet' }, 'Loading…'));
  url.value = initial.url;
  description.value = initial.description;

  /** @param {string} type */
  const choice = (type) => {
    const box = h('input', { type: 'checkbox', value: type, checked: initial.eventTypes.includes(type) });
    return h('label', {}, box, ` ${type}`);
  };
  let isLoaded = false;
  api.listEventTypes().then(
    ({ eventTypes }) => {
      isLoaded = true;
      // A type that the service has no more stays chosen until a person removes it.
      const all = [...new Set([...eventTypes, ...initial.eventTypes])];
      const groups = Object.values(Object.groupBy(all, (type) => type.split('.', 1)[0] ?? ''));
      fill(types, ...groups.map((group = []) => h('div', {}, ...group.map(choice))));
    },
    (/** @type {unknown} */ error) => fill(types, h('p', { class: 'alert', role: 'alert' }, explain(error))),
  );
  return {
    content: [
      h('label', { for: 'endpoint-url' }, 'URL'),
      url,
      h(
        'p',
        { id: 'endpoint-url-hint', class: 'quiet' },
        `A public https:// address, port 443 or 1024–65535. ${urlHint}`,
      ),
      h('label', { for: 'endpoint-description' }, 'Description (optional)'),
      description,
      h('fieldset', {}, h('legend', {}, 'Event types (none chosen: every type)'), types),
    ],
    /**
     * What is in the fields. The event types are those from before until they are shown.
     * @returns {EndpointFields}
     */
    read: () => {
      const boxes = [...types.querySelectorAll('input')];
      const eventTypes = isLoaded
        ? boxes.filter(({ checked }) => checked).map(({ value }) => value)
        : initial.eventTypes;
      return { url: url.value.trim(), description: description.value, eventTypes };
    },
  };
}
