import { factorApi, Fault, type Contract } from '@wts/contracts';
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
import type { Session } from '../../store/sessions.ts';
import { askAgain } from '../ask-again.ts';
import { formToken } from '../browser.ts';
import { mountPageWith, pageWith, type PageAnswer, type PageCall, type Pages } from '../mount-page.ts';
import { destinationOf, nextOf } from '../next-step.ts';
import { sessionOf, wrongIn, type Account, type Section } from './view.ts';

interface Member {
  readonly call: PageCall;
  readonly session: Session;
  readonly userId: string;
  readonly accountId: string;
}

type Handler = (member: Member) => Promise<PageAnswer>;

interface FormOptions {
  /** What the person is about to do: who has an old sign-in is asked who they are. */
  readonly purpose?: string;
  /** Also to a person of whom a second factor is required. */
  readonly isOpenWithoutFactor?: boolean;
}

/** Null for a person who signs in at the identity provider. */
export const factorsSection: Section = async (view) => {
  const { pages, call, session } = view;
  const { accountId, userId } = session;
  if (accountId === null || !pages.hasAccounts) return null;
  const shown = await factorsShown(pages, { call, session, userId, accountId });
  return sections.factorsSection(pages.site, { ...shown, wrong: wrongIn(view, 'factors') });
};

const OPEN = { isOpenWithoutFactor: true } as const;

/** Where a person adds and removes second factors. */
export function mountFactors(account: Account): void {
  const { pages } = account;
  const { router, site } = pages;

  mountStream(router, factorApi.passkeyScript, async ({ req, res }) => {
    const headers = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'public, max-age=300' };
    sendText(req, res, { status: 200, text: req.method === 'HEAD' ? '' : PASSKEY_SCRIPT, headers });
  });

  mountPageWith(pages, factorApi.enrolPage, OPEN, async (call) => {
    if (call.browser.session === null) return { to: site.url('/sign-in') };
    const member = memberOf(call);
    const next = nextOf(call.query);
    if (await pages.factors.has(member.accountId)) return { to: destinationOf(site, next) };
    const shown = await factorsShown(pages, member);
    return { page: enrolPage(site, { ...shown, next }) };
  });

  mountMemberPage(pages, factorApi.addPasskey, { purpose: 'add a passkey', ...OPEN }, async (member) => {
    const { call, session } = member;
    const answer = { answer: call.form.text('passkey'), name: call.form.text('name'), use: addUse(session.id, call) };
    const added = await addPasskey(pages, member, answer, call.visitor);
    if (typeof added === 'string') return refused(account, member, added);
    return afterAdding(account, call, added, 'passkey');
  });

  mountTotp(account);
  mountRemovals(account);

  mountMemberPage(pages, factorApi.renewRecoveryCodes, { purpose: 'make new recovery codes' }, async (member) => {
    const codes = await renewRecoveryCodes(pages, member, member.call.visitor);
    const added = 'The new recovery codes replace all codes before.';
    return { page: recoveryCodesPage({ added, codes, to: site.path(ACCOUNT_PAGES.security.path) }) };
  });
}

/** Mounts a page or form for people with an account. */
function mountMemberPage(
  pages: Pages,
  contract: Contract,
  { purpose, ...options }: FormOptions,
  handler: Handler,
): void {
  mountPageWith(pages, contract, options, async (call) => {
    const member = memberOf(call);
    const asked = purpose === undefined ? null : await askAgain(pages, member, purpose);
    return asked ?? handler(member);
  });
}

function mountTotp(account: Account): void {
  const { pages } = account;
  const { site } = pages;
  const show = async ({ call, accountId }: Member, setup: string, wrong?: string): Promise<PageAnswer> => {
    const { browser, query, form } = call;
    const found = await findTotpSetup(pages, accountId, { setup, browserId: browser.id });
    const owner = await pages.accounts.find(accountId);
    if (found === null || owner === null) throw setupEnded();
    const page = totpPage(site, {
      csrf: formToken(browser, 'session'),
      setup,
      next: nextOf(form.values.size === 0 ? query : form),
      secret: base32(found.secret),
      address: totpAddress(found.secret, { issuer: PRODUCT, account: owner.email }),
      wrong,
    });
    return pageWith(page, wrong);
  };
  const purpose = 'set up an authenticator app';

  mountMemberPage(pages, factorApi.beginTotp, { purpose, ...OPEN }, async ({ call, accountId }) => {
    const setup = await beginTotp(pages, accountId, call);
    const next = Object.entries(nextOf(call.form)).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return { to: site.url(call.path, { setup, ...Object.fromEntries(next) }) };
  });
  mountMemberPage(pages, factorApi.totpPage, OPEN, (member) => show(member, member.call.query.text('setup')));
  mountMemberPage(pages, factorApi.confirmTotp, { purpose, ...OPEN }, async (member) => {
    const { call } = member;
    const setup = call.form.text('setup');
    const given = { setup, code: call.form.text('code'), browserId: call.browser.id };
    const added = await confirmTotp(pages, member, given, call.visitor);
    if (added === 'ended') throw setupEnded();
    if (added === 'wrong') return show(member, setup, 'This code is wrong. Enter the one that the app shows now.');
    return afterAdding(account, call, added, 'totp');
  });
}

function mountRemovals({ pages, done }: Account): void {
  const named = async ({ call, accountId }: Member): Promise<{ id: string; name: string }> => {
    const { passkeys } = await pages.factors.of(accountId);
    const passkey = passkeys.find(({ id }) => id === call.params['passkeyId']);
    if (passkey === undefined)
      throw new Fault('not_found', { message: 'You have no such passkey. It is removed already.' });
    return passkey;
  };
  const ask = ({ browser, path }: PageCall, name: string): PageAnswer => ({
    page: confirmPage(pages.site, {
      csrf: formToken(browser, 'session'),
      title: 'Remove a second factor?',
      heading: removalHeading(name),
      text: 'It opens your account no more. When it is your only second factor, your recovery codes end too.',
      action: path,
      label: 'Remove',
      back: ACCOUNT_PAGES.security.path,
    }),
  });

  mountMemberPage(pages, factorApi.removePasskeyPage, {}, async (member) =>
    ask(member.call, (await named(member)).name),
  );
  mountMemberPage(pages, factorApi.removePasskey, { purpose: 'remove a passkey' }, async (member) => {
    await removeFactor(pages, member, await named(member), member.call.visitor);
    return done('security', 'factor-removed');
  });
  mountMemberPage(pages, factorApi.removeTotpPage, {}, async ({ call }) => ask(call, 'the authenticator app'));
  mountMemberPage(pages, factorApi.removeTotp, { purpose: 'remove the authenticator app' }, async (member) => {
    await removeFactor(pages, member, null, member.call.visitor);
    return done('security', 'factor-removed');
  });
}

/** What the section about second factors shows. */
async function factorsShown(
  { factors, passkeys, accounts }: Pages,
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
  const person = { id: accountId, email: account?.email ?? '', name: session.name, existing };
  return {
    ...own,
    csrf: formToken(browser, 'session'),
    passkeyOptions: passkeys.arePossible ? passkeys.creationOptions(addUse(session.id, call), now, person) : null,
    passkeyName: visitor.browser ?? 'Passkey',
    isRequired,
  };
}

async function refused({ pages, refuse }: Account, member: Member, text: string): Promise<PageAnswer> {
  const { call, session } = member;
  if (!session.lacksFactor) return refuse(call, 'security', { wrong: { about: 'factors', text } });
  const shown = { ...(await factorsShown(pages, member)), next: nextOf(call.form), wrong: text };
  return pageWith(enrolPage(pages.site, shown), text);
}

/** To what the person came for, over the recovery codes when there are new ones. */
function afterAdding({ pages, done }: Account, { form }: PageCall, { recoveryCodes }: Added, what: string): PageAnswer {
  const next = nextOf(form);
  const isOnTheWay = Object.values(next).some((one) => one !== undefined);
  const answer = isOnTheWay ? { to: destinationOf(pages.site, next) } : done('security', what);
  if (recoveryCodes === null) return answer;
  return { page: recoveryCodesPage({ added: 'Your second factor is set up.', codes: recoveryCodes, to: answer.to }) };
}

function addUse(sessionId: string, { browserId }: PageCall): ChallengeUse {
  return { purpose: 'add', browserId, subject: sessionId };
}

/** People of an identity provider have their second factor there. */
function memberOf(call: PageCall): Member {
  const session = sessionOf(call);
  const { userId, accountId } = session;
  if (accountId === null)
    throw new Fault('forbidden', { message: 'You sign in at your organization, which has your second factor.' });
  return { call, session, userId, accountId };
}

function setupEnded(): Fault {
  const message = 'This set-up has ended, or began in another browser. Start again.';
  return new Fault('malformed_request', { message });
}
