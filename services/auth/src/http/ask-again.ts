import { confirmSession, confirmUse } from '../commands/confirm-session.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { askAgainPage } from '../pages/ask-again.ts';
import type { PeopleContext } from '../people-context.ts';
import type { Session } from '../store/sessions.ts';
import { formToken } from './browser.ts';
import { guestOf } from './guest.ts';
import type { PageAnswer, PageCall, Pages } from './mount-page.ts';

interface Asked {
  /** The path of the form that was sent. */
  readonly action: string;
  /** What the person is about to do, as in "To add a passkey, ...". */
  readonly purpose: string;
  readonly leadsTo?: readonly string[];
}

/**
 * Null when the person of a session proved who they are within the last ten minutes, or does so with this form. Otherwise the page that
 * asks for the password or a passkey again; it sends all fields of the form once more, so nothing is typed twice. People of an identity
 * provider are not asked, because they have neither here.
 */
export async function askAgain(
  { site, sessions }: Pages,
  context: PeopleContext,
  { call, session }: { readonly call: PageCall; readonly session: Session },
  { action, purpose, leadsTo = [] }: Asked,
): Promise<PageAnswer | null> {
  const { browser, form } = call;
  const { accountId } = session;
  if (session.isConfirmed || accountId === null) return null;
  const again = form.get('again');
  const confirmation = {
    password: form.text('again_password'),
    passkeyAnswer: again === 'passkey' ? form.text('again_passkey') : undefined,
  };
  const wrong =
    again === undefined ? null : await confirmSession({ ...context, sessions }, session, confirmation, guestOf(call));
  if (again !== undefined && wrong === null) return null;
  const [account, { passkeys }, now] = await Promise.all([
    context.accounts.find(accountId),
    context.factors.of(accountId),
    context.factors.now(),
  ]);
  const kept = [...form.values].filter(([name]) => !OWN_FIELDS.has(name));
  const use = confirmUse(session.id, browser.id);
  const expiresAt = now + AUTH_LIMITS.passkeyChallengeMs / 1000;
  const page = askAgainPage(site, {
    action,
    fields: { ...Object.fromEntries(kept), csrf: formToken(browser, 'session') },
    purpose,
    email: account?.email ?? '',
    passkeyOptions: passkeys.length === 0 ? null : context.passkeys.requestOptions(use, expiresAt, passkeys),
    wrong,
    leadsTo,
  });
  return { page, ...(wrong === null ? {} : { status: 422 }) };
}

/** Of the page that asks, besides the fields of the form that waits. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['csrf', 'again', 'again_email', 'again_password', 'again_passkey']);
