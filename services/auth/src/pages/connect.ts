import type { WorkspaceOfPerson } from '@wts/contracts';
import { html, type Html } from './html.ts';
import { ACCESS_TEXTS, KEY_ACCESS, keyChoices } from './key-choices.ts';
import type { Page, Site } from './layout.ts';
import { form, named, otherAccount, signedInAs } from './parts.ts';

interface ConnectPage {
  readonly csrf: string;
  readonly request: string;
  readonly toolName: string;
  /** Null when the person copies the code. */
  readonly port: number | null;
  readonly access: string | null;
  readonly workspaces: readonly WorkspaceOfPerson[];
  readonly person: { readonly name: string; readonly email: string | null };
}

/** The page on which a person gives a command line an API key. Nothing skips it, because any program can send a person here. */
export function connectPage(site: Site, options: ConnectPage): Page {
  const { csrf, request, toolName, port, access, workspaces, person } = options;
  const asked = KEY_ACCESS.find((one) => one === access) ?? null;
  const accesses = asked === null ? KEY_ACCESS : [asked, ...KEY_ACCESS.filter((one) => one !== asked)];
  const action = site.path('/account/connect/decision');
  return {
    title: `Connect ${toolName}?`,
    leadsTo: port === null ? [] : [`http://127.0.0.1:${port}`],
    body: html`<h1>Connect ${named(toolName)} to your account?</h1>
      ${signedInAs(person)}
      <p>
        It gets an API key that acts as
        you.${asked === null ? null : html` It asks for <strong>${ACCESS_TEXTS[asked].toLowerCase()}</strong>.`} Full
        access includes members, webhooks and other API keys. You can revoke the key in your account at any time.
      </p>
      ${form(
        action,
        { csrf, request },
        html`${keyChoices(workspaces, accesses)} ${warning(port)}
          <div class="choices">
            <button type="submit" name="decision" value="allow">Connect</button>
            <button type="submit" name="decision" value="deny" class="plain">Cancel</button>
          </div>`,
      )}
      ${otherAccount(action, { csrf, request, decision: 'switch' })}`,
  };
}

function warning(port: number | null): Html {
  const where =
    port === null
      ? html`You get a code for it. With the code another person can use your account: never send it to anyone.`
      : html`The key goes to a program on your device (<strong>127.0.0.1:${port}</strong>).`;
  return html`<div class="note careful">
    <p>${where} Any program can use this name. Connect it only if you started it yourself just now.</p>
  </div>`;
}

/** The code, for a tool without a browser on its device. */
export function codePage({ toolName, code }: { readonly toolName: string; readonly code: string }): Page {
  return {
    title: 'Your code',
    body: html`<h1>Enter this code in your terminal</h1>
      <p class="quiet">Where ${named(toolName)} asks for it.</p>
      <div class="note done" role="status">
        It works once, within five minutes. This page does not show it again.<code class="token">${code}</code>
      </div>
      <p class="quiet small">No other person needs it: one who asks you for it wants to use your account.</p>`,
  };
}
