/** @import { Api } from './api.js' */
/** @import { PollState } from './poll.js' */
/** @import { Route } from './routes.js' */
import { Refusal, openApi } from './api.js';
import { button, byId, fill, h } from './dom.js';
import { endpointView } from './endpoint.js';
import { endpointsView } from './endpoints.js';
import { hrefOf, parseRoute } from './routes.js';
import { explain } from './words.js';

/**
 * The webhooks console: asks for an API key, and shows the view that the address names. The key is in the storage of this tab,
 * so that a reload keeps it; closing the tab deletes it. Keeps console.page.key.
 */

/**
 * @typedef {object} Context What every view gets.
 * @property {Api} api
 * @property {(text: string) => void} say shows what has been done
 * @property {(error: unknown) => void} fail shows an error
 * @property {(text: string) => void} announce makes screen readers read what changed without an action
 * @property {(state: PollState) => void} onPoll
 * @property {(route: Route) => void} go
 */

/**
 * @typedef {object} View
 * @property {string} title
 * @property {HTMLElement} element
 * @property {() => void} focus
 * @property {() => void} stop
 * @property {(route: Route) => boolean} [update] false when another view must show the route
 */

const STORED_KEY = 'delivery-console-key';
/** The announcements of a busy endpoint must not interrupt everything else that a screen reader reads. */
const ANNOUNCE_EVERY_MS = 10_000;
/** What has been done is in the page too, so its message goes away by itself. */
const SAY_MS = 10_000;
const NAME = 'Webhooks console';

const viewBox = byId('view');
const alertBox = byId('alert');
const statusBox = byId('status');
const liveBox = byId('live');
const sessionBox = byId('session');
const workspaceSelect = /** @type {HTMLSelectElement} */ (byId('workspace'));

/** @type {View | null} */
let view = null;
/** @type {Context | null} */
let context = null;
let announcedAt = -ANNOUNCE_EVERY_MS;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let sayTimer;

/** @param {string} text */
function say(text) {
  fill(alertBox);
  clearTimeout(sayTimer);
  fill(statusBox, text);
  sayTimer = setTimeout(() => fill(statusBox), SAY_MS);
}

/** @param {unknown} error */
function fail(error) {
  if (error instanceof Refusal && error.status === 401) return signOut(explain(error));
  fill(statusBox);
  fill(
    alertBox,
    explain(error),
    ' ',
    button('Dismiss', () => fill(alertBox)),
  );
}

/** @param {string} text */
function announce(text) {
  if (performance.now() - announcedAt < ANNOUNCE_EVERY_MS) return;
  announcedAt = performance.now();
  fill(liveBox, text);
}

/** @param {PollState} state */
function onPoll({ kind, error, nextInMs }) {
  if (kind !== 'failed') return;
  if (nextInMs === undefined) fail(error);
  else announce(explain(error));
}

/** Shows what the address names. */
function render() {
  if (context === null) return;
  fill(alertBox);
  fill(statusBox);
  const route = parseRoute(location.hash);
  const { workspaceId = workspaceSelect.value, endpointId } = route;
  if (view?.update?.(route)) return;
  workspaceSelect.value = workspaceId;
  show(
    endpointId === undefined
      ? endpointsView(context, workspaceId)
      : endpointView(context, { ...route, workspaceId, endpointId }),
  );
}

/** @param {View | null} next */
function show(next) {
  const isFirst = view === null;
  view?.stop();
  view = next;
  if (next === null) return;
  fill(viewBox, next.element);
  document.title = `${next.title} · ${NAME}`;
  if (!isFirst) next.focus();
}

/** @param {Route} route */
function go(route) {
  history.pushState(null, '', hrefOf(route));
  render();
}

/** @param {string} key */
async function signIn(key) {
  const api = openApi(key);
  const { workspaces } = await api.listWorkspaces();
  if (workspaces.length === 0) throw new Refusal(403, { message: 'This key has access to no workspace.' });
  // A key without the scope can do nothing here. A role may be another one in each workspace.
  await api.listEndpoints(workspaces[0]?.id ?? '', new AbortController().signal).catch(refuseWithoutScope);
  fill(workspaceSelect, ...workspaces.map(({ id, name }) => h('option', { value: id }, name)));
  sessionStorage.setItem(STORED_KEY, key);
  context = { api, say, fail, announce, onPoll, go };
  sessionBox.hidden = false;
  render();
}

/** @param {unknown} error */
function refuseWithoutScope(error) {
  if (error instanceof Refusal && error.code === 'insufficient_scope') throw error;
}

/** @param {string} [reason] */
function signOut(reason) {
  sessionStorage.removeItem(STORED_KEY);
  context = null;
  show(null);
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
  sessionBox.hidden = true;
  fill(workspaceSelect);
  fill(alertBox);
  fill(statusBox);
  askForKey(reason);
}

/** @param {string} [reason] */
function askForKey(reason = '') {
  document.title = NAME;
  const alert = h('div', { role: 'alert', class: 'alert' }, reason);
  // Without a name, and with a policy that forbids sending forms, the key cannot become part of an address.
  const field = h('input', {
    id: 'key',
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'key-hint',
  });
  const submit = h('button', { type: 'submit', class: 'primary' }, 'Open');
  const form = h(
    'form',
    {
      class: 'panel sign-in',
      onsubmit: (event) => {
        event.preventDefault();
        submit.disabled = true;
        fill(alert);
        signIn(field.value.trim()).catch((/** @type {unknown} */ error) => {
          submit.disabled = false;
          fill(alert, explain(error));
          field.focus();
        });
      },
    },
    h('h1', {}, NAME),
    h('p', {}, 'See what was sent to your endpoints, how they answered, and send it again.'),
    h('label', { for: 'key' }, 'API key'),
    field,
    h(
      'p',
      { id: 'key-hint', class: 'quiet' },
      'Use a full-access key of a workspace owner or admin. It is kept in this tab only, until you close it or remove it.',
    ),
    alert,
    h('div', { class: 'actions' }, submit),
  );
  fill(viewBox, form);
  field.focus();
}

/** After a reload. */
function start() {
  const key = sessionStorage.getItem(STORED_KEY);
  if (key === null) return askForKey();
  fill(viewBox, h('p', { class: 'quiet' }, 'Loading…'));
  signIn(key).catch((/** @type {unknown} */ error) => {
    if (!(error instanceof Refusal && error.isTemporary)) return signOut(explain(error));
    fill(viewBox, h('p', { role: 'alert', class: 'alert' }, explain(error)), button('Try again', start));
  });
}

window.addEventListener('hashchange', render);
// The fragment of the address names the view, so this link must not change it.
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('content').focus();
});
workspaceSelect.addEventListener('change', () => go({ workspaceId: workspaceSelect.value }));
byId('remove-key').addEventListener('click', () => signOut());
start();
