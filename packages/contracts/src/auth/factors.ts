import { objectOf, uuid } from '../parts.ts';
import { form, page } from './pages.ts';

/* Second factors on the pages of {auth_url}: passkeys, an authenticator app and recovery codes. */

const byPasskey = objectOf({ passkeyId: uuid });

export const passkeyScript = page({
  id: 'passkeyScript',
  path: '/passkeys.js',
  summary: 'The script that passkeys need',
});

export const secondStepPage = page({
  id: 'secondStepPage',
  path: '/sign-in/factor',
  summary: 'Asks for the second factor after a right password',
});
export const secondStep = form({
  id: 'secondStep',
  path: '/sign-in/factor',
  summary: 'Signs in by the second factor after a right password',
});
export const passkeySignIn = form({
  id: 'passkeySignIn',
  path: '/sign-in/passkey',
  summary: 'Signs in by a passkey alone',
});

export const enrolPage = page({
  id: 'enrolPage',
  path: '/account/second-factor',
  summary: 'Where a person adds the second factor that is required of them',
});
export const addPasskey = form({ id: 'addPasskey', path: '/account/passkeys', summary: 'Adds a passkey' });
export const removePasskeyPage = page({
  id: 'removePasskeyPage',
  path: '/account/passkeys/{passkeyId}/remove',
  summary: 'Asks before a passkey is removed',
  params: byPasskey,
});
export const removePasskey = form({
  id: 'removePasskey',
  path: '/account/passkeys/{passkeyId}/remove',
  summary: 'Removes a passkey',
  params: byPasskey,
});
export const beginTotp = form({
  id: 'beginTotp',
  path: '/account/totp',
  summary: 'Begins to set up an authenticator app',
});
export const totpPage = page({
  id: 'totpPage',
  path: '/account/totp',
  summary: 'The secret of a new authenticator app',
});
export const confirmTotp = form({
  id: 'confirmTotp',
  path: '/account/totp/confirm',
  summary: 'Sets up an authenticator app with its first code',
});
export const removeTotpPage = page({
  id: 'removeTotpPage',
  path: '/account/totp/remove',
  summary: 'Asks before the authenticator app is removed',
});
export const removeTotp = form({
  id: 'removeTotp',
  path: '/account/totp/remove',
  summary: 'Removes the authenticator app',
});
export const renewRecoveryCodes = form({
  id: 'renewRecoveryCodes',
  path: '/account/recovery-codes',
  summary: 'Makes new recovery codes in place of all before',
});
