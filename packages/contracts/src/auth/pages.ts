import { browserPage, type Contract } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { objectOf, uuid } from '../parts.ts';

/*
 * The pages of {auth_url} for people. They are for browsers, work without a script, and are not in the description. The service
 * reads their queries and forms itself, because it answers a fault with a page.
 */

/** A page, or a redirect to one. Each name in its path is an id. */
export function page(id: string, path: string, summary: string): Contract {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, uuid] as const);
  const params = names.length === 0 ? {} : { params: objectOf(Object.fromEntries(names)) };
  return browserPage({ id, path, summary, ...params }, { status: 200, contentType: 'text/html' });
}

/** A form that a page sends. */
export function form(id: string, path: string, summary: string): Contract {
  return { ...page(id, path, summary), method: 'POST', bodyBytesMax: LIMITS.formBytes };
}

export const home = page('authHome', '/', 'Leads to the account or to the sign-in');
export const style = page('authStyle', '/style.css', 'The style of all pages');

export const signInPage = page('signInPage', '/sign-in', 'Where people sign in');
export const signIn = form('signIn', '/sign-in', 'Signs in by password');
export const signOut = form('signOut', '/sign-out', 'Ends the session');
export const signedOutPage = page('signedOutPage', '/signed-out', 'After a sign-out');

export const forgottenPage = page(
  'forgottenPage',
  '/forgot-password',
  'Where people ask for a link to choose a new password',
);
export const askForReset = form('askForReset', '/forgot-password', 'Sends such a link by mail');

export const linkPage = page('linkPage', '/link', 'Where a link from a mail or the operator leads');
export const useLink = form('useLink', '/link', 'Uses such a link');

export const providerSignIn = page('providerSignIn', '/sign-in/provider', 'Leads to the identity provider');
export const providerCallback = page('providerCallback', '/sign-in/callback', 'Where the provider leads back');

export const joinPage = page('joinPage', '/join', 'Where people join a workspace with an invitation');
export const join = form('joinByInvitation', '/join', 'Joins, with a new account or as the person signed in');

export const accountPage = page('accountPage', '/account', 'The profile and the workspaces of the person');
export const securityPage = page('securityPage', '/account/security', 'The password, the sessions and what happened');
export const keysPage = page('keysPage', '/account/keys', 'API keys');
export const appsPage = page('appsPage', '/account/apps', 'Connected apps');
export const changeName = form('changeName', '/account/name', 'Changes the name');
export const endSession = form('endSession', '/account/sessions/{sessionId}/end', 'Ends one session');
export const endOtherSessions = form(
  'endOtherSessions',
  '/account/sessions/end-others',
  'Ends all sessions but this one',
);
export const changePassword = form('changePassword', '/account/password', 'Changes the password');
export const createKey = form('createKeyOnPage', '/account/keys', 'Creates an API key');
export const revokeKeyPage = page('revokeKeyPage', '/account/keys/{keyId}/revoke', 'Asks before an API key is revoked');
export const revokeKey = form('revokeKeyOnPage', '/account/keys/{keyId}/revoke', 'Revokes an API key');
export const revokeAppPage = page(
  'revokeAppPage',
  '/account/apps/{grantId}/revoke',
  'Asks before the access of an app is revoked',
);
export const revokeApp = form('revokeApp', '/account/apps/{grantId}/revoke', 'Revokes what an app may do');

export const changeAddress = form(
  'changeAddress',
  '/account/address',
  'Sends a link that changes the address of the account',
);
export const verifyAddress = form(
  'verifyAddress',
  '/account/address/verify',
  'Sends a link that verifies the address of the account',
);
