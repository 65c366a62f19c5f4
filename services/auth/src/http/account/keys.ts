import { Fault, NOT_BLANK_PATTERN, pageApi, type NewApiKey } from '@wts/contracts';
import { createApiKey, listApiKeys, revokeApiKey } from '../../commands/manage-api-keys.ts';
import { sessionPrincipal } from '../../domain/session-principal.ts';
import { shownName } from '../../domain/shown-name.ts';
import * as sections from '../../pages/account/keys.ts';
import { confirmPage } from '../../pages/confirm.ts';
import { html } from '../../pages/html.ts';
import { askAgain } from '../ask-again.ts';
import { formToken, newKeyCookie } from '../browser.ts';
import { readKeyChoices } from '../key-choices.ts';
import { mountPage } from '../mount-page.ts';
import type { Parameters } from '../parameters.ts';
import { sessionOf, wrongIn, type Account, type Section } from './view.ts';

const NOT_BLANK = new RegExp(NOT_BLANK_PATTERN, 'u');
const LABEL_CHARACTERS_MAX = 100;

export const keysSection: Section = async (view) => {
  const { pages, call, session, csrf, shown } = view;
  const [keys, { found: workspaces }] = await Promise.all([
    listApiKeys(pages, sessionPrincipal(session), undefined),
    pages.directory.workspacesOf(session.userId),
  ]);
  const token = call.browser.newKey ?? '';
  const made = keys.find(({ keyPrefix }) => token.startsWith(keyPrefix));
  const newKey = made === undefined ? null : { label: made.label, token };
  const label = shown.entered?.['label'];
  return sections.keysSection(pages.site, { csrf, keys, workspaces, newKey, label, wrong: wrongIn(view, 'keys') });
};

export function mountKeys({ pages, refuse, done }: Account): void {
  const { site } = pages;
  mountPage(pages, pageApi.createKey, async (call) => {
    const session = sessionOf(call);
    const label = call.form.text('label').trim();
    const key = readNewKey(call.form, label);
    if (typeof key === 'string')
      return refuse(call, 'keys', { entered: { label }, wrong: { about: 'keys', text: key } });
    const asked = await askAgain(pages, { call, session }, 'create an API key');
    if (asked !== null) return asked;
    const { token } = await createApiKey(pages, sessionPrincipal(session), key, call);
    return { to: site.url('/account/keys'), cookies: [newKeyCookie(site, token)] };
  });

  mountPage(pages, pageApi.revokeKeyPage, async ({ browser, params, path }) => {
    if (browser.session === null) return { to: site.url('/sign-in') };
    const keys = await listApiKeys(pages, sessionPrincipal(browser.session), undefined);
    const key = keys.find(({ id }) => id === params['keyId']);
    if (key === undefined)
      throw new Fault('not_found', { message: 'You have no such API key. It is revoked already.' });
    const name = shownName(key.label);
    return {
      page: confirmPage(site, {
        csrf: formToken(browser, 'session'),
        title: `Revoke ${name}?`,
        heading: html`Revoke the key <bdi>${name}</bdi>?`,
        text: `Every program that uses ${key.keyPrefix}… loses access within a second. This cannot be undone.`,
        action: path,
        label: 'Revoke key',
        back: '/account/keys',
      }),
    };
  });

  mountPage(pages, pageApi.revokeKey, async (call) => {
    const key = { keyId: call.params['keyId'] ?? '', includeMade: false };
    await revokeApiKey(pages, sessionPrincipal(sessionOf(call)), key, call.visitor);
    return done('keys', 'key');
  });
}

/** A sentence about what is wrong, or the key of the form. */
function readNewKey(form: Parameters, label: string): NewApiKey | string {
  if (!NOT_BLANK.test(label) || [...label].length > LABEL_CHARACTERS_MAX)
    return `Give the key a name of at most ${LABEL_CHARACTERS_MAX} characters.`;
  const choices = readKeyChoices(form);
  return choices === null
    ? 'Choose the access, the end and the workspace of the key from the lists.'
    : { label, ...choices };
}
