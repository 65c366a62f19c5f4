import { button, copyButton, fill, h } from './dom.js';
import { SNIPPETS } from './snippets.js';
import { explain } from './words.js';

/** @import { Child } from './dom.js' */

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {readonly Child[]} content
 * @property {string} label of the button that does it
 * @property {boolean} [isDangerous]
 * @property {() => Promise<() => void>} act returns what follows when the dialog is closed; the dialog stays open and shows an error of it
 */

/** @param {Question} question */
export function ask({ title, content, label, isDangerous = false, act }) {
  const alert = h('div', { role: 'alert', class: 'alert' });
  const submit = h('button', { type: 'submit', class: isDangerous ? 'danger' : 'primary' }, label);
  const form = h(
    'form',
    {
      method: 'dialog',
      onsubmit: (event) => {
        event.preventDefault();
        submit.disabled = true;
        fill(alert);
        act().then(
          (follow) => {
            dialog.close();
            follow();
          },
          (/** @type {unknown} */ error) => {
            fill(alert, explain(error));
            submit.disabled = false;
            submit.focus();
          },
        );
      },
    },
    ...content,
    alert,
    h(
      'div',
      { class: 'actions' },
      submit,
      button('Cancel', () => dialog.close()),
    ),
  );
  const dialog = open(title, form);
}

/**
 * Shows a secret, once: afterwards it is nowhere in the page. Keeps console.page.secret.
 * @param {string} title
 * @param {string} secret
 */
export function showSecret(title, secret) {
  const field = h('input', { id: 'secret', type: 'text', readonly: true, class: 'code', spellcheck: 'false' });
  field.value = secret;
  field.addEventListener('focus', () => field.select());
  const program = h('code');
  const choices = SNIPPETS.map(({ name, text }, index) => {
    const radio = h('input', {
      type: 'radio',
      name: 'snippet',
      checked: index === 0,
      onchange: () => fill(program, text),
    });
    return h('label', {}, radio, ` ${name}`);
  });
  fill(program, SNIPPETS[0]?.text);
  const dialog = open(
    title,
    h('p', {}, 'This secret is shown only now. Store it where your receiver reads it, and keep it secret.'),
    h('label', { for: 'secret' }, 'Signing secret'),
    h(
      'div',
      { class: 'row' },
      field,
      copyButton('Copy secret', () => field.value),
    ),
    h('fieldset', { class: 'choices' }, h('legend', {}, 'A receiver that verifies deliveries'), ...choices),
    h('pre', { tabindex: '0', role: 'region', 'aria-label': 'Program of the receiver' }, program),
    h(
      'div',
      { class: 'actions' },
      button('I have stored the secret', () => dialog.close(), { class: 'primary' }),
      copyButton('Copy program', () => program.textContent),
    ),
  );
  dialog.classList.add('wide');
  // Escape would lose the secret by one wrong key.
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  field.focus();
}

/**
 * @param {string} title
 * @param {...Child} content
 */
function open(title, ...content) {
  const id = 'dialog-title';
  const dialog = h('dialog', { 'aria-labelledby': id }, h('h2', { id }, title), ...content);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
