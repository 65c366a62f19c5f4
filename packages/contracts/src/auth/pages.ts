import type { Contract } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { uuid } from '../parts.ts';

/*
 * The pages of {auth_url} for people. They are for browsers, work without a script, and are not in the description. The service
 * reads their queries and forms itself, because it answers a fault with a page.
 */

type PageOperation = Pick<Contract, 'id' | 'path' | 'summary' | 'params'>;

/** A page, or a redirect to one. */
export function page(operation: PageOperation): Contract {
  const schema = { type: 'string' };
  return {
    ...operation,
    method: 'GET',
    tag: 'Meta',
    scope: 'none',
    page: true,
    reply: { status: 200, contentType: 'text/html', schema },
    errors: [],
  };
}

/** A form that a page sends. */
export function form(operation: PageOperation): Contract {
  return { ...page(operation), method: 'POST', bodyBytesMax: LIMITS.formBytes };
}

const byId = (name: string) =>
  ({ type: 'object', additionalProperties: false, required: [name], properties: { [name]: uuid } }) as const;

export const home = page({ id: 'authHome', path: '/', summary: 'Leads to the account or to the sign-in' });
export const style = page({ id: 'authStyle', path: '/style.css', summary: 'The style of all pages' });

export const signInPage = page({ id: 'signInPage', path: '/sign-in', summary: 'Where people sign in' });
export const signIn = form({ id: 'signIn', path: '/sign-in', summary: 'Signs in by password' });
export const signOut = form({ id: 'signOut', path: '/sign-out', summary: 'Ends the session' });
export const signedOutPage = page({ id: 'signedOutPage', path: '/signed-out', summary: 'After a sign-out' });

export const forgottenPage = page({
  id: 'forgottenPage',
  path: '/forgot-password',
  summary: 'Where people ask for a link to choose a new password',
});
export const askForReset = form({ id: 'askForReset', path: '/forgot-password', summary: 'Sends such a link by mail' });

export const linkPage = page({
  id: 'linkPage',
  path: '/link',
  summary: 'Where a link from a mail or the operator leads',
});
export const useLink = form({ id: 'useLink', path: '/link', summary: 'Uses such a link' });

export const providerSignIn = page({
  id: 'providerSignIn',
  path: '/sign-in/provider',
  summary: 'Leads to the identity provider',
});
export const providerCallback = page({
  id: 'providerCallback',
  path: '/sign-in/callback',
  summary: 'Where the provider leads back',
});

export const joinPage = page({
  id: 'joinPage',
  path: '/join',
  summary: 'Where people join a workspace with an invitation',
});
export const join = form({
  id: 'joinByInvitation',
  path: '/join',
  summary: 'Joins, with a new account or as the person signed in',
});

export const accountPage = page({
  id: 'accountPage',
  path: '/account',
  summary: 'The profile and the workspaces of the person',
});
export const securityPage = page({
  id: 'securityPage',
  path: '/account/security',
  summary: 'The password, the sessions and what happened',
});
export const keysPage = page({ id: 'keysPage', path: '/account/keys', summary: 'API keys' });
export const appsPage = page({ id: 'appsPage', path: '/account/apps', summary: 'Connected apps' });
export const changeName = form({ id: 'changeName', path: '/account/name', summary: 'Changes the name' });
export const endSession = form({
  id: 'endSession',
  path: '/account/sessions/{sessionId}/end',
  summary: 'Ends one session',
  params: byId('sessionId'),
});
export const endOtherSessions = form({
  id: 'endOtherSessions',
  path: '/account/sessions/end-others',
  summary: 'Ends all sessions but this one',
});
export const changePassword = form({
  id: 'changePassword',
  path: '/account/password',
  summary: 'Changes the password',
});
export const createKey = form({ id: 'createKeyOnPage', path: '/account/keys', summary: 'Creates an API key' });
export const revokeKeyPage = page({
  id: 'revokeKeyPage',
  path: '/account/keys/{keyId}/revoke',
  summary: 'Asks before an API key is revoked',
  params: byId('keyId'),
});
export const revokeKey = form({
  id: 'revokeKeyOnPage',
  path: '/account/keys/{keyId}/revoke',
  summary: 'Revokes an API key',
  params: byId('keyId'),
});
export const revokeAppPage = page({
  id: 'revokeAppPage',
  path: '/account/apps/{grantId}/revoke',
  summary: 'Asks before the access of an app is revoked',
  params: byId('grantId'),
});
export const revokeApp = form({
  id: 'revokeApp',
  path: '/account/apps/{grantId}/revoke',
  summary: 'Revokes what an app may do',
  params: byId('grantId'),
});

export const changeAddress = form({
  id: 'changeAddress',
  path: '/account/address',
  summary: 'Sends a link that changes the address of the account',
});
export const verifyAddress = form({
  id: 'verifyAddress',
  path: '/account/address/verify',
  summary: 'Sends a link that verifies the address of the account',
});
