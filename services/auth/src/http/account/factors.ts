import { factorApi, Fault } from '@wts/contracts';
import { sendText } from '@wts/service-kit/http';
import { mountStream } from '@wts/service-kit/routes';
import type { ChallengeUse } from '../../accounts/passkeys.ts';
import {
  addPasskey,
  beginTotp,
  confirmTotp,
  findTotpSetup,
  removeFactor,
  renewRecoveryCodes,
  type Added,
} from '../../commands/manage-factors.ts';
import { PRODUCT } from '../../domain/product.ts';
import { base32, totpAddress } from '../../domain/totp.ts';
import { AUTH_LIMITS } from '../../limits.ts';
import { confirmPage } from '../../pages/confirm.ts';
import * as sections from '../../pages/account/factors.ts';
import {
  enrolPage,
  recoveryCodesPage,
  removalHeading,
  totpPage,
  type FactorsShown,
} from '../../pages/account/factors.ts';
import { ACCOUNT_PAGES } from '../../pages/account/layout.ts';
import { PASSKEY_SCRIPT } from '../../pages/passkey-script.ts';
import type { PeopleContext } from '../../people-context.ts';
import type { Session } from '../../store/sessions.ts';
import { askAgain } from '../ask-again.ts';
import { formToken } from '../browser.ts';
import { guestOf } from '../guest.ts';
import { mountPage, type PageAnswer, type PageCall } from '../mount-page.ts';
import { sessionOf, wrongIn, type Account, type Section } from './view.ts';
import { destinationOf, nextOf } from '../sign-in.ts';

interface Member {
  readonly call: PageCall;
  readonly session: Session;
  readonly accountId: string;
}

type Handler = (member: Member) => Promise<PageAnswer>;

/** Null for a person who signs in at the identity provider. */
export const factorsSection: Section = async (view) => {
  const { site, context, call, session } = view;
  const { accountId } = session;
  if (accountId === null || !context.hasAccounts) return null;
  const shown = await factorsShown(context, { call, session, accountId });
  return sections.factorsSection(site, { ...shown, wrong: wrongIn(view, 'factors') });
};

const OPEN = { isOpenWithoutFactor: true } as const;

/** Where a person adds and removes second factors. These pages are open to a person of whom one is required. */
export function mountFactors(account: Account): void {
  const { pages, context } = account;
  const { router, site } = pages;

  mountStream(router, factorApi.passkeyScript, async ({ req, res }) => {
    const headers = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'public, max-age=300' };
    sendText(req, res, { status: 200, text: req.method === 'HEAD' ? '' : PASSKEY_SCRIPT, headers });
  });

  mountPage(
    pages,
    factorApi.enrolPage,
    async (call) => {
      if (call.browser.session === null) return { to: `${site.issuer}/sign-in` };
      const member = memberOf(call);
      const next = nextOf(call.query);
      if (await context.factors.has(member.accountId)) return { to: destinationOf(pages, next) };
      const shown = await factorsShown(context, member);
      return { page: enrolPage(site, { ...shown, next }) };
    },
    OPEN,
  );

  mountPage(
    pages,
    factorApi.addPasskey,
    confirmed(account, '/account/passkeys', 'add a passkey', async (member) => {
      const { call, session, accountId } = member;
      const { form, browser, visitor } = call;
      const added = await addPasskey(
        context,
        { accountId, userId: session.userId },
        { answer: form.text('passkey'), name: form.text('name'), use: addUse(session.id, browser.id) },
        visitor,
      );
      if (typeof added === 'string') return refused(account, member, added);
      return afterAdding(account, call, added, 'passkey');
    }),
    OPEN,
  );

  mountTotp(account);
  mountRemovals(account);

  mountPage(
    pages,
    factorApi.renewRecoveryCodes,
    confirmed(account, '/account/recovery-codes', 'make new recovery codes', async ({ call, session, accountId }) => {
      const codes = await renewRecoveryCodes(context, { accountId, userId: session.userId }, call.visitor);
      const added = 'The new recovery codes replace all codes before.';
      return { page: recoveryCodesPage({ added, codes, to: site.path(ACCOUNT_PAGES.security.path) }) };
    }),
  );
}

function withAccount(handler: Handler): (call: PageCall) => Promise<PageAnswer> {
  return async (call) => handler(memberOf(call));
}

/** After the question who the person is, when the sign-in is old. */
function confirmed(
  { pages, context }: Account,
  action: string,
  purpose: string,
  handler: Handler,
): ReturnType<typeof withAccount> {
  return withAccount(
    async (member) => (await askAgain(pages, context, member, { action, purpose })) ?? handler(member),
  );
}

function mountTotp(account: Account): void {
  const { pages, context } = account;
  const { site } = pages;
  const show = async ({ call, accountId }: Member, setup: string, wrong?: string): Promise<PageAnswer> => {
    const { browser, query, form } = call;
    const found = await findTotpSetup(context, accountId, { setup, browserId: browser.id });
    const owner = await context.accounts.find(accountId);
    if (found === null || owner === null) throw setupEnded();
    const page = totpPage(site, {
      csrf: formToken(browser, 'session'),
      setup,
      next: nextOf(form.values.size === 0 ? query : form),
      secret: base32(found.secret),
      address: totpAddress(found.secret, { issuer: PRODUCT, account: owner.email }),
      ...(wrong === undefined ? {} : { wrong }),
    });
    return { page, ...(wrong === undefined ? {} : { status: 422 }) };
  };

  mountPage(
    pages,
    factorApi.beginTotp,
    confirmed(account, '/account/totp', 'set up an authenticator app', async ({ call, accountId }) => {
      const setup = await beginTotp(context, accountId, guestOf(call));
      const next = Object.entries(nextOf(call.form)).filter((pair): pair is [string, string] => pair[1] !== undefined);
      const query = new URLSearchParams([['setup', setup], ...next]);
      return { to: `${site.issuer}/account/totp?${query.toString()}` };
    }),
    OPEN,
  );
  mountPage(
    pages,
    factorApi.totpPage,
    withAccount((member) => show(member, member.call.query.text('setup'))),
    OPEN,
  );
  mountPage(
    pages,
    factorApi.confirmTotp,
    confirmed(account, '/account/totp/confirm', 'set up an authenticator app', async (member) => {
      const { call, session, accountId } = member;
      const setup = call.form.text('setup');
      const given = { setup, code: call.form.text('code'), browserId: call.browser.id };
      const added = await confirmTotp(context, { accountId, userId: session.userId }, given, call.visitor);
      if (added === 'ended') throw setupEnded();
      if (added === 'wrong') return show(member, setup, 'This code is wrong. Enter the one that the app shows now.');
      return afterAdding(account, call, added, 'totp');
    }),
    OPEN,
  );
}

function mountRemovals(account: Account): void {
  const { pages, context } = account;
  const { site } = pages;
  const named = async ({ call, accountId }: Member): Promise<{ id: string; name: string }> => {
    const { passkeys } = await context.factors.of(accountId);
    const passkey = passkeys.find(({ id }) => id === call.params['passkeyId']);
    if (passkey === undefined)
      throw new Fault('not_found', { message: 'You have no such passkey. It is removed already.' });
    return passkey;
  };
  const ask = ({ browser }: PageCall, name: string, action: string): PageAnswer => ({
    page: confirmPage(site, {
      csrf: formToken(browser, 'session'),
      title: 'Remove a second factor?',
      heading: removalHeading(name),
      text: 'It opens your account no more. When it is your only second factor, your recovery codes end too.',
      action,
      label: 'Remove',
      back: ACCOUNT_PAGES.security.path,
    }),
  });
  const done = account.done('security', 'factor-removed');

  mountPage(
    pages,
    factorApi.removePasskeyPage,
    withAccount(async (member) => {
      const { id, name } = await named(member);
      return ask(member.call, name, `/account/passkeys/${id}/remove`);
    }),
  );
  mountPage(pages, factorApi.removePasskey, (call) =>
    confirmed(
      account,
      `/account/passkeys/${call.params['passkeyId'] ?? ''}/remove`,
      'remove a passkey',
      async (member) => {
        const { session, accountId } = member;
        await removeFactor(context, { accountId, userId: session.userId }, await named(member), call.visitor);
        return done;
      },
    )(call),
  );
  mountPage(
    pages,
    factorApi.removeTotpPage,
    withAccount(async ({ call }) => ask(call, 'the authenticator app', '/account/totp/remove')),
  );
  mountPage(
    pages,
    factorApi.removeTotp,
    confirmed(account, '/account/totp/remove', 'remove the authenticator app', async ({ call, session, accountId }) => {
      await removeFactor(context, { accountId, userId: session.userId }, null, call.visitor);
      return done;
    }),
  );
}

/** What the section about second factors shows. */
async function factorsShown(
  { factors, passkeys, accounts }: PeopleContext,
  { call, session, accountId }: Member,
): Promise<FactorsShown> {
  const { browser, visitor } = call;
  const [own, account, isRequired, now] = await Promise.all([
    factors.of(accountId),
    accounts.find(accountId),
    factors.isRequired(session.userId),
    factors.now(),
  ]);
  const existing = own.passkeys.map(({ credentialId }) => credentialId);
  const expiresAt = now + AUTH_LIMITS.passkeyChallengeMs / 1000;
  const person = { id: accountId, email: account?.email ?? '', name: session.name, existing };
  return {
    ...own,
    csrf: formToken(browser, 'session'),
    passkeyOptions: passkeys.arePossible
      ? passkeys.creationOptions(addUse(session.id, browser.id), expiresAt, person)
      : null,
    passkeyName: visitor.browser ?? 'Passkey',
    isRequired,
  };
}

async function refused({ pages, context, refuse }: Account, member: Member, text: string): Promise<PageAnswer> {
  const { call, session } = member;
  if (!session.lacksFactor) return refuse(call, 'security', { wrong: { about: 'factors', text } });
  const shown = { ...(await factorsShown(context, member)), next: nextOf(call.form), wrong: text };
  return { status: 422, page: enrolPage(pages.site, shown) };
}

/** To what the person came for, over the recovery codes when there are new ones. */
function afterAdding({ pages, done }: Account, { form }: PageCall, { recoveryCodes }: Added, what: string): PageAnswer {
  const next = nextOf(form);
  const isOnTheWay = Object.values(next).some((one) => one !== undefined);
  const answer = isOnTheWay ? { to: destinationOf(pages, next) } : done('security', what);
  if (recoveryCodes === null) return answer;
  return { page: recoveryCodesPage({ added: 'Your second factor is set up.', codes: recoveryCodes, to: answer.to }) };
}

function addUse(sessionId: string, browserId: string): ChallengeUse {
  return { purpose: 'add', browserId, subject: sessionId };
}

/** People of an identity provider have their second factor there. */
function memberOf(call: PageCall): Member {
  const session = sessionOf(call);
  if (session.accountId === null)
    throw new Fault('forbidden', { message: 'You sign in at your organization, which has your second factor.' });
  return { call, session, accountId: session.accountId };
}

function setupEnded(): Fault {
  const message = 'This set-up has ended, or began in another browser. Start again.';
  return new Fault('malformed_request', { message });
}
