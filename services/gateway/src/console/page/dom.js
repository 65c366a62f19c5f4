/**
 * Makes elements. Nothing in this page parses HTML, and its Content-Security-Policy forbids it: all text goes through `inert`
 * and becomes text nodes and attributes. Keeps console.page.inert.
 */

/** @typedef {Node | string | null | undefined | false} Child */
/** @typedef {Record<string, string | boolean | undefined | ((event: Event) => void)>} Properties */

/**
 * Characters that are not visible, or that reorder the text around them. Lines and tabs stay, and so does the joiner of emoji.
 */
const INVISIBLE =
  /(?<!\p{Extended_Pictographic}\ufe0f?)\u200d|(?![\n\t\u200d]|\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu;

/**
 * The text with those characters written as `\u202e`, which is also valid in JSON.
 * @param {string} text
 */
export function inert(text) {
  return text.replaceAll(INVISIBLE, (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Properties} [properties] attributes, and listeners by the names of their events with `on` before them
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, inert(value));
  }
  element.append(...nodesOf(children));
  return element;
}

/**
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodesOf(children));
}

/**
 * Changes a text only when it differs, so that a selection in it stays and screen readers do not read the same text again.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const shown = inert(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/**
 * Runs when a value has changed since the last call.
 * @template T
 * @param {(value: T) => void} show
 * @returns {(value: T) => boolean}
 */
export function whenChanged(show) {
  /** @type {string | undefined} */
  let last;
  return (value) => {
    const text = JSON.stringify(value);
    if (text === last) return false;
    last = text;
    show(value);
    return true;
  };
}

/**
 * A list that keeps the elements of items that stay, so that focus and selection stay in them.
 * @template {{ readonly id: string }} T
 * @param {Element} list
 * @param {(item: T) => { element: Element, update: (item: T) => void }} make
 */
export function keyedList(list, make) {
  /** @type {Map<string, ReturnType<typeof make>>} */
  let rows = new Map();
  /** @param {readonly T[]} items */
  return (items) => {
    const next = new Map(items.map((item) => [item.id, rows.get(item.id) ?? make(item)]));
    for (const [id, { element }] of rows) if (!next.has(id)) element.remove();
    for (const [index, item] of items.entries()) {
      const row = next.get(item.id);
      if (row === undefined) continue;
      row.update(item);
      const before = list.children[index] ?? null;
      if (before !== row.element) list.insertBefore(row.element, before);
    }
    rows = next;
  };
}

/**
 * Text of others: its direction does not affect the text around it.
 * @param {string} text
 */
export function foreign(text) {
  return h('bdi', {}, text);
}

/**
 * @param {string} label
 * @param {(event: Event) => void} onclick
 * @param {Properties} [more]
 */
export function button(label, onclick, more = {}) {
  return h('button', { type: 'button', onclick, ...more }, label);
}

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * A button that copies a text.
 * @param {string} label
 * @param {() => string} text
 */
export function copyButton(label, text) {
  const element = button(label, () => {
    void copy(text()).then((isCopied) => {
      element.textContent = isCopied ? 'Copied' : 'Select it and copy it';
      setTimeout(() => {
        element.textContent = label;
      }, 2_000);
    });
  });
  element.setAttribute('aria-live', 'polite');
  return element;
}

/**
 * @param {string} text
 * @returns {Promise<boolean>}
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/**
 * The clipboard is missing where the page is opened by plain HTTP.
 * @param {string} text
 */
function copyBySelection(text) {
  const area = h('textarea', { class: 'unseen', 'aria-hidden': 'true', tabindex: '-1' });
  area.value = text;
  const focused = document.activeElement;
  // A modal dialog makes everything outside of it inert.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  // oxlint-disable-next-line typescript/no-deprecated -- nothing replaces it there
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

/**
 * @param {readonly Child[]} children
 * @returns {(Node | string)[]}
 */
function nodesOf(children) {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    return [typeof child === 'string' ? inert(child) : child];
  });
}
