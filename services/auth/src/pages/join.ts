import { shownName } from '../domain/shown-name.ts';
import { html, type Html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { field, form, named, newPasswordField, note, otherAccount, signedInAs } from './parts.ts';

/** The first page for a person with a code, who opened no link. */
export function enterCodePage(site: Site, wrong: string | null = null): Page {
  return {
    title: 'Join a workspace',
    body: html`<h1>Join a workspace</h1>
      <p class="quiet">Enter the code of your invitation.</p>
      ${note('wrong', wrong)}
      <form method="get" action="${site.path('/join')}">
        ${field({ label: 'Invitation code', name: 'code', autocomplete: 'off', isFirst: true, lengthMax: 200 })}
        <button type="submit">Continue</button>
      </form>
      <p class="foot">You have an account? <a href="${site.path('/sign-in')}">Sign in</a></p>`,
  };
}

interface JoinPage {
  readonly csrf: string;
  readonly code: string;
  /** The token of a mailed link, which proves the address. */
  readonly proof: string | undefined;
  readonly workspaceName: string;
  /** The only address that may use the invitation; null for any. */
  readonly address: string | null;
  readonly role: string;
  /** The name of the person who invites; null for one who is gone. */
  readonly inviter: string | null;
  readonly wrong: string | undefined;
}

function invited({ inviter, role }: Pick<JoinPage, 'inviter' | 'role'>): Html {
  const as = html`with the role <strong>${role}</strong>`;
  return html`<p>${inviter === null ? html`You are invited` : html`${named(inviter)} invites you`} ${as}.</p>`;
}

interface NewPersonPage extends JoinPage {
  readonly hasAccounts: boolean;
  readonly name?: string;
  readonly email?: string;
}

/** For a person who is not signed in: a new account, or the way to the sign-in. */
export function newPersonPage(site: Site, options: NewPersonPage): Page {
  const { csrf, code, proof, workspaceName, address, hasAccounts, name = '', email = '', wrong } = options;
  const signIn = `${site.path('/sign-in')}?${new URLSearchParams({ invitation: code }).toString()}`;
  return {
    title: `Join ${shownName(workspaceName)}`,
    body: html`<h1>Join ${named(workspaceName)}</h1>
      ${invited(options)}
      <p class="quiet">
        ${hasAccounts ? 'Create an account to accept the invitation.' : 'Sign in to accept the invitation.'}
      </p>
      ${note('wrong', wrong)}
      ${
        hasAccounts
          ? form(
              site.path('/join'),
              { csrf, code, proof },
              html`${field({ label: 'Name', name: 'name', autocomplete: 'name', value: name, isFirst: true, lengthMax: 200 })}
                ${field({
                  label: 'Email',
                  name: 'email',
                  type: 'email',
                  autocomplete: 'username',
                  value: address ?? email,
                  lengthMax: 320,
                  ...(address === null ? {} : { isFixed: true, hint: 'The invitation is for this address.' }),
                })}
                ${newPasswordField({ label: 'Password' })} <button type="submit">Create account and join</button>`,
            )
          : html`<a class="button" href="${signIn}">Sign in</a>`
      }
      ${hasAccounts ? html`<p class="foot">You have an account? <a href="${signIn}">Sign in</a></p>` : null}`,
  };
}

interface MemberPage extends JoinPage {
  readonly person: { readonly name: string; readonly email: string | null };
}

export function signedInPage(site: Site, options: MemberPage): Page {
  const { csrf, code, proof, workspaceName, address, person, wrong } = options;
  return {
    title: `Join ${shownName(workspaceName)}`,
    body: html`<h1>Join ${named(workspaceName)}</h1>
      ${invited(options)} ${signedInAs(person)} ${note('wrong', wrong)}
      ${address === null ? null : html`<p class="note">The invitation is for ${named(address)}.</p>`}
      ${form(site.path('/join'), { csrf, code, proof }, html`<button type="submit">Join ${named(workspaceName)}</button>`)}
      ${otherAccount(site.path('/sign-out'), { csrf, invitation: code })}`,
  };
}

/** For a person who is in the workspace already. */
export function memberPage(
  site: Site,
  { workspaceName, role }: { readonly workspaceName: string; readonly role: string },
): Page {
  return {
    title: 'You are already a member',
    body: html`<h1>You are already a member</h1>
      <p>You are in ${named(workspaceName)} with the role <strong>${role}</strong>. There is nothing to accept.</p>
      <a class="button" href="${site.path('/account')}">Go to your account</a>`,
  };
}

/** After a registration that has to be confirmed: the same for every address. */
export function confirmSentPage(address: string): Page {
  return {
    title: 'Look into your mail',
    body: html`<h1>Look into your mail</h1>
      <p>A message with a link is on its way to ${named(address)}. Open the link within a day to join.</p>
      <p class="quiet small">
        Nothing came? Look into your spam folder, and check the address. You can close this page.
      </p>`,
  };
}

/** After the person joined. */
export function joinedPage(
  site: Site,
  { workspaceName, role }: { readonly workspaceName: string; readonly role: string },
): Page {
  const as: Html = html`You are a member now, with the role <strong>${role}</strong>.`;
  return {
    title: `Welcome to ${shownName(workspaceName)}`,
    body: html`<h1>Welcome to ${named(workspaceName)}</h1>
      <p>${as}</p>
      <a class="button" href="${site.path('/account')}">Go to your account</a>`,
  };
}
