import type { AccountPageName } from '../../pages/account/layout.ts';
import { addressSection } from './address.ts';
import { appsSection } from './apps.ts';
import { factorsSection } from './factors.ts';
import { keysSection } from './keys.ts';
import { passwordSection } from './password.ts';
import { historySection } from './history.ts';
import { linksSection, nameSection, workspacesSection } from './profile.ts';
import { sessionsSection } from './sessions.ts';
import type { Section } from './view.ts';

/** The sections of each page, in order. Each is a function in a file of its own beside this, with its forms. */
export const SECTIONS: Readonly<Record<AccountPageName, readonly Section[]>> = {
  profile: [nameSection, addressSection, workspacesSection, linksSection],
  security: [passwordSection, factorsSection, sessionsSection, historySection],
  keys: [keysSection],
  apps: [appsSection],
};

/** The sentence on the page after a redirect, by the value of `done`. */
export const DONE: ReadonlyMap<string, string> = new Map([
  ['password', 'Your password is changed. You are signed out everywhere else, and no app is connected.'],
  ['name', 'Your name is changed.'],
  ['address', 'A message with a link is on its way. Open the link within a day.'],
  ['session', 'The session has ended.'],
  ['sessions', 'You are signed out everywhere else.'],
  ['passkey', 'The passkey is added.'],
  ['totp', 'The authenticator app is set up.'],
  ['factor-removed', 'The second factor is removed.'],
  ['key', 'The API key is revoked.'],
  ['app', 'Access revoked. The app can no longer use your account.'],
]);
