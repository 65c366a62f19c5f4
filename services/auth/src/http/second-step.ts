import { factorApi, Fault } from '@wts/contracts';
import type { ChallengeUse } from '../accounts/passkeys.ts';
import type { Proof } from '../commands/check-second-factor.ts';
import { findSecondStep } from '../commands/begin-second-step.ts';
import { finishSecondStep } from '../commands/finish-second-step.ts';
import { signInByPasskey } from '../commands/sign-in-by-passkey.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { kindOfCode } from '../domain/recovery-codes.ts';
import { secondStepPage } from '../pages/second-step.ts';
import type { PeopleContext } from '../people-context.ts';
import type { Account } from '../store/accounts.ts';
import { formToken, sessionCookie } from './browser.ts';
import { guestOf } from './guest.ts';
import { mountPage, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import { destinationOf, nextOf, passwordsClosed, showSignIn, tooMany } from './sign-in.ts';

/** The second page of a sign-in by password, and the sign-in by a passkey alone. */
export function mountSecondStep(pages: Pages, context: PeopleContext): void {
  const { site } = pages;

  mountPage(
    pages,
    factorApi.secondStepPage,
    async (call) => {
      const step = call.query.text('step');
      const found = await findSecondStep(context, step, call.browser.id);
      if (found === null) throw ended();
      return show(pages, context, call, { step, account: found.account });
    },
    { isOpenWithoutFactor: true },
  );

  mountPage(
    pages,
    factorApi.secondStep,
    async (call) => {
      if (!context.hasAccounts) return { status: 403, page: passwordsClosed(pages) };
      const step = call.form.text('step');
      const attempt = { step, proof: proofOf(call, step), session: call.browser.session };
      const result = await finishSecondStep(context, attempt, guestOf(call));
      if (result.outcome === 'ended') throw ended();
      context.metrics.signIn('second factor', result.outcome);
      if (result.outcome === 'right')
        return { to: destinationOf(pages, result.next), cookies: [sessionCookie(site, result.secret)] };
      const found = await findSecondStep(context, step, call.browser.id);
      if (found === null) throw ended();
      if (result.outcome === 'wrong')
        return show(pages, context, call, { step, ...found, wrong: WRONG[attempt.proof.kind] });
      const { retryAfterSeconds } = result;
      const wrong = `${tooMany(retryAfterSeconds)} A passkey or a recovery code works now.`;
      return { ...(await show(pages, context, call, { step, ...found, wrong })), status: 429, retryAfterSeconds };
    },
    { token: 'browser', isOpenWithoutFactor: true },
  );

  mountPage(
    pages,
    factorApi.passkeySignIn,
    async (call) => {
      if (!context.hasAccounts) return { status: 403, page: passwordsClosed(pages) };
      const attempt = { answer: call.form.text('passkey'), session: call.browser.session };
      const secret = await signInByPasskey(context, attempt, guestOf(call));
      context.metrics.signIn('passkey', secret === null ? 'wrong' : 'right');
      if (secret !== null)
        return { to: destinationOf(pages, nextOf(call.form)), cookies: [sessionCookie(site, secret)] };
      const wrong = 'This passkey does not open an account here. Sign in with your password.';
      return { status: 422, page: await showSignIn(pages, context, call, { wrong }) };
    },
    { token: 'browser', isOpenWithoutFactor: true },
  );
}

const WRONG: Readonly<Record<Proof['kind'], string>> = {
  code: 'This code is wrong, or was used already. Wait for the next one.',
  'recovery code': 'This recovery code is wrong, or was used already.',
  passkey: 'This passkey was not accepted. Try again, or use another way.',
};

function proofOf({ form, browser }: PageCall, step: string): Proof {
  const recovery = form.get('recovery');
  const code = recovery ?? form.get('code');
  if (code !== undefined)
    return { kind: kindOfCode(code) ?? (recovery === undefined ? 'code' : 'recovery code'), code };
  return { kind: 'passkey', answer: form.text('passkey'), use: stepUse(step, browser.id) };
}

function stepUse(step: string, browserId: string): ChallengeUse {
  return { purpose: 'factor', browserId, subject: step };
}

interface Shown {
  readonly step: string;
  readonly account: Account;
  readonly wrong?: string;
}

async function show(
  { site }: Pages,
  { factors, passkeys }: PeopleContext,
  { browser }: PageCall,
  { step, account, wrong }: Shown,
): Promise<PageAnswer & { readonly page: object }> {
  const [own, now] = await Promise.all([factors.of(account.id), factors.now()]);
  const expiresAt = now + AUTH_LIMITS.passkeyChallengeMs / 1000;
  const use = stepUse(step, browser.id);
  const page = secondStepPage(site, {
    csrf: formToken(browser, 'browser'),
    step,
    passkeyOptions: own.passkeys.length === 0 ? null : passkeys.requestOptions(use, expiresAt, own.passkeys),
    hasApp: own.totpSince !== null,
    ...(wrong === undefined ? {} : { wrong }),
  });
  return { page, ...(wrong === undefined ? {} : { status: 422 }) };
}

function ended(): Fault {
  const message = 'This sign-in has ended, or began in another browser. Start again.';
  return new Fault('malformed_request', { message });
}
