import { oauthApi, type GrantScope, type WorkspaceOfPerson } from '@wts/contracts';
import { html, type Html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { workspaceChoice } from './key-choices.ts';
import { choice, form, named, otherAccount, signedInAs } from './parts.ts';
import { targetOf, type Target } from './redirect-target.ts';

interface ConsentPage {
  readonly csrf: string;
  readonly request: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly scopes: readonly GrantScope[];
  /** Those of the person. */
  readonly workspaces: readonly WorkspaceOfPerson[];
  readonly person: { readonly name: string; readonly email: string | null };
}

/** What a scope allows, in words. */
const SCOPE_TEXTS: Readonly<Record<GrantScope, string>> = {
  read: 'See your workspaces, tasks, projects, comments and members',
  write:
    'Create, change and delete tasks, projects, teams, labels and comments, also for good, and change your name and picture',
};

/** By the value of the form; the first is chosen. Both lists can only lessen what the app asked for. */
export const GRANT_ACCESS = [
  ['write', 'Read and change'],
  ['read', 'Read only'],
] as const;
/** The longest is AUTH_LIMITS.grantMs. */
export const GRANT_DAYS = [
  ['90', 'In 90 days'],
  ['30', 'In 30 days'],
  ['7', 'In a week'],
  ['1', 'In a day'],
] as const;

/** The page on which a person decides about a client. It is shown for every request, because a client cannot prove who it is. */
export function consentPage(site: Site, options: ConsentPage): Page {
  const { csrf, request, clientName, redirectUri, scopes, workspaces, person } = options;
  const target = targetOf(redirectUri);
  return {
    title: `Allow ${clientName}?`,
    leadsTo: [target.source],
    body: html`<h1>Allow ${named(clientName)} to use your account?</h1>
      ${signedInAs(person)}
      <p>It will be able to:</p>
      <ul class="allowed">
        ${oauthApi.GRANT_SCOPES.filter((scope) => scopes.includes(scope) || scopes.includes('write')).map((scope) => html`<li>${SCOPE_TEXTS[scope]}</li>`)}
      </ul>
      <p class="quiet small">
        It can do this as far as your role allows, until the end that you choose or until you revoke it. It cannot
        manage the members of workspaces and private projects, webhooks or API keys.
      </p>
      ${form(
        site.path('/consent'),
        { csrf, request },
        html`<div class="grid">
            ${scopes.includes('write') ? choice({ label: 'Access', name: 'access', options: GRANT_ACCESS }) : null}
            ${choice({ label: 'Expires', name: 'expires', options: GRANT_DAYS })} ${workspaceChoice(workspaces)}
          </div>
          ${warning(target)}
          <div class="choices">
            <button type="submit" name="decision" value="allow">Allow</button>
            <button type="submit" name="decision" value="deny" class="plain">Deny</button>
          </div>`,
      )}
      ${otherAccount(site.path('/consent'), { csrf, request, decision: 'switch' })}`,
  };
}

function warning({ kind, shown }: Target): Html {
  if (kind === 'site') {
    return html`<p class="note">
      Your answer goes to <strong>${shown}</strong>. Allow it only if you trust that site and began this there.
    </p>`;
  }
  const where =
    kind === 'loopback'
      ? html`a program on your device (<strong>${shown}</strong>)`
      : html`an app on your device (<strong>${shown}</strong>)`;
  return html`<div class="note careful">
    <p>
      Your answer goes to ${where}. Any program can use this name. Allow it only if you started it yourself just now.
    </p>
  </div>`;
}
