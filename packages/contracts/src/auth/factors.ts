import { form, page } from './pages.ts';

/* Second factors on the pages of {auth_url}: passkeys, an authenticator app and recovery codes. */

export const passkeyScript = page('passkeyScript', '/passkeys.js', 'The script that passkeys need');

export const secondStepPage = page(
  'secondStepPage',
  '/sign-in/factor',
  'Asks for the second factor after a right password',
);
export const secondStep = form('secondStep', '/sign-in/factor', 'Signs in by the second factor after a right password');
export const passkeySignIn = form('passkeySignIn', '/sign-in/passkey', 'Signs in by a passkey alone');

export const enrolPage = page(
  'enrolPage',
  '/account/second-factor',
  'Where a person adds the second factor that is required of them',
);
export const addPasskey = form('addPasskey', '/account/passkeys', 'Adds a passkey');
export const removePasskeyPage = page(
  'removePasskeyPage',
  '/account/passkeys/{passkeyId}/remove',
  'Asks before a passkey is removed',
);
export const removePasskey = form('removePasskey', '/account/passkeys/{passkeyId}/remove', 'Removes a passkey');
export const beginTotp = form('beginTotp', '/account/totp', 'Begins to set up an authenticator app');
export const totpPage = page('totpPage', '/account/totp', 'The secret of a new authenticator app');
export const confirmTotp = form(
  'confirmTotp',
  '/account/totp/confirm',
  'Sets up an authenticator app with its first code',
);
export const removeTotpPage = page(
  'removeTotpPage',
  '/account/totp/remove',
  'Asks before the authenticator app is removed',
);
export const removeTotp = form('removeTotp', '/account/totp/remove', 'Removes the authenticator app');
export const renewRecoveryCodes = form(
  'renewRecoveryCodes',
  '/account/recovery-codes',
  'Makes new recovery codes in place of all before',
);
