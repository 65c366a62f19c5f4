import { confirmSession, confirmUse } from '../commands/confirm-session.ts';
import { askAgainPage } from '../pages/ask-again.ts';
import type { Session } from '../store/sessions.ts';
import { formToken } from './browser.ts';
import { pageWith, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';

/**
 * Null when the person of a session proved who they are within the last ten minutes, or does so with this form. Otherwise the page that
 * asks for the password or a passkey again; it sends all fields of the form once more, so nothing is typed twice. People of an identity
 * provider are not asked, because they have neither here. `purpose`: what the person is about to do, as in "To add a passkey, ...".
 */
export async function askAgain(
  pages: Pages,
  { call, session }: { readonly call: PageCall; readonly session: Session },
  purpose: string,
  leadsTo: readonly string[] = [],
): Promise<PageAnswer | null> {
  const { browser, form, path: action } = call;
  const { accountId } = session;
  if (session.isConfirmed || accountId === null) return null;
  const again = form.get('again');
  const confirmation = {
    password: form.text('again_password'),
    passkeyAnswer: again === 'passkey' ? form.text('again_passkey') : undefined,
  };
  const wrong = again === undefined ? null : await confirmSession(pages, session, confirmation, call);
  if (again !== undefined && wrong === null) return null;
  const [account, { passkeys }, now] = await Promise.all([
    pages.accounts.find(accountId),
    pages.factors.of(accountId),
    pages.factors.now(),
  ]);
  const kept = [...form.values].filter(([name]) => !OWN_FIELDS.has(name));
  const use = confirmUse(session.id, browser.id);
  const page = askAgainPage(pages.site, {
    action,
    fields: { ...Object.fromEntries(kept), csrf: formToken(browser, 'session') },
    purpose,
    email: account?.email ?? '',
    passkeyOptions: passkeys.length === 0 ? null : pages.passkeys.requestOptions(use, now, passkeys),
    wrong,
    leadsTo,
  });
  return pageWith(page, wrong);
}

/** Of the page that asks, besides the fields of the form that waits. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['csrf', 'again', 'again_email', 'again_password', 'again_passkey']);
