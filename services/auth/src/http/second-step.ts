import { factorApi, Fault } from '@wts/contracts';
import type { ChallengeUse } from '../accounts/passkeys.ts';
import type { Proof } from '../commands/check-second-factor.ts';
import { findSecondStep } from '../commands/begin-second-step.ts';
import { finishSecondStep } from '../commands/finish-second-step.ts';
import { signInByPasskey } from '../commands/sign-in-by-passkey.ts';
import { kindOfCode } from '../domain/recovery-codes.ts';
import type { Page } from '../pages/layout.ts';
import { secondStepPage } from '../pages/second-step.ts';
import type { Account } from '../store/accounts.ts';
import { formToken, sessionCookie } from './browser.ts';
import { mountPageWith, pageWith, type PageCall, type Pages } from './mount-page.ts';
import { destinationOf, nextOf } from './next-step.ts';
import { showSignIn, tooMany } from './sign-in.ts';

/** The second page of a sign-in by password, and the sign-in by a passkey alone. */
export function mountSecondStep(pages: Pages): void {
  const { site, metrics } = pages;
  const open = { isOpenWithoutFactor: true } as const;
  const form = { ...open, token: 'browser', isOfAccounts: true } as const;

  mountPageWith(pages, factorApi.secondStepPage, open, async (call) => {
    const step = call.query.text('step');
    const found = await findSecondStep(pages, step, call.browserId);
    if (found === null) throw ended();
    return { page: await show(pages, call, { step, account: found.account }) };
  });

  mountPageWith(pages, factorApi.secondStep, form, async (call) => {
    const step = call.form.text('step');
    const attempt = { step, proof: proofOf(call, step), session: call.browser.session };
    const result = await finishSecondStep(pages, attempt, call);
    if (result.outcome === 'ended') throw ended();
    metrics.signIn('second factor', result.outcome);
    if (result.outcome === 'right')
      return { to: destinationOf(site, result.next), cookies: [sessionCookie(site, result.secret)] };
    const found = await findSecondStep(pages, step, call.browserId);
    if (found === null) throw ended();
    if (result.outcome === 'wrong') {
      const wrong = WRONG[attempt.proof.kind];
      return pageWith(await show(pages, call, { step, ...found, wrong }), wrong);
    }
    const { retryAfterSeconds } = result;
    const wrong = `${tooMany(retryAfterSeconds)} A passkey or a recovery code works now.`;
    return { page: await show(pages, call, { step, ...found, wrong }), status: 429, retryAfterSeconds };
  });

  mountPageWith(pages, factorApi.passkeySignIn, form, async (call) => {
    const attempt = { answer: call.form.text('passkey'), session: call.browser.session };
    const secret = await signInByPasskey(pages, attempt, call);
    metrics.signIn('passkey', secret === null ? 'wrong' : 'right');
    if (secret !== null) return { to: destinationOf(site, nextOf(call.form)), cookies: [sessionCookie(site, secret)] };
    const wrong = 'This passkey does not open an account here. Sign in with your password.';
    return pageWith(await showSignIn(pages, call, { wrong }), wrong);
  });
}

const WRONG: Readonly<Record<Proof['kind'], string>> = {
  code: 'This code is wrong, or was used already. Wait for the next one.',
  'recovery code': 'This recovery code is wrong, or was used already.',
  passkey: 'This passkey was not accepted. Try again, or use another way.',
};

function proofOf({ form, browserId }: PageCall, step: string): Proof {
  const recovery = form.get('recovery');
  const code = recovery ?? form.get('code');
  if (code !== undefined)
    return { kind: kindOfCode(code) ?? (recovery === undefined ? 'code' : 'recovery code'), code };
  return { kind: 'passkey', answer: form.text('passkey'), use: stepUse(step, browserId) };
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
  { site, factors, passkeys }: Pages,
  { browser }: PageCall,
  { step, account, wrong }: Shown,
): Promise<Page> {
  const [own, now] = await Promise.all([factors.of(account.id), factors.now()]);
  const use = stepUse(step, browser.id);
  return secondStepPage(site, {
    csrf: formToken(browser, 'browser'),
    step,
    passkeyOptions: own.passkeys.length === 0 ? null : passkeys.requestOptions(use, now, own.passkeys),
    hasApp: own.totpSince !== null,
    wrong,
  });
}

function ended(): Fault {
  const message = 'This sign-in has ended, or began in another browser. Start again.';
  return new Fault('malformed_request', { message });
}
