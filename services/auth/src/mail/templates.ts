import { PRODUCT } from '../domain/product.ts';
import { shownName } from '../domain/shown-name.ts';
import { html, type Html } from '../pages/html.ts';

/** What each kind of mail says something about. */
export interface MailData {
  'password-reset': { readonly url: string };
  'account-made': { readonly url: string; readonly workspaceName: string };
  'verify-address': { readonly url: string; readonly name: string };
  registration: { readonly url: string; readonly name: string; readonly workspaceName: string };
  'already-registered': { readonly url: string; readonly workspaceName: string };
  invitation: {
    readonly url: string;
    readonly workspaceName: string;
    /** Null for a person who is gone. */
    readonly inviter: string | null;
    readonly role: string;
    readonly expiresAt: string;
  };
  welcome: { readonly url: string; readonly workspaceName: string; readonly role: string };
  'change-address': { readonly url: string; readonly name: string };
  'address-changes': { readonly url: string; readonly newAddress: string };
  'new-sign-in': { readonly url: string; readonly browser: string; readonly network: string; readonly at: string };
  'key-created': { readonly url: string; readonly label: string; readonly access: string };
  'password-changed': { readonly url: string };
  'second-factor-changed': { readonly url: string; readonly what: string };
  'only-factor-added': { readonly url: string; readonly what: string };
}

export type MailKind = keyof MailData;

/** A mail as its reader gets it. Text and HTML say the same. */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface Content {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly button: { readonly label: string; readonly url: string };
  /** What to do when the reader did not ask for it. */
  readonly foot: string;
}

/** Of a name in a sentence. */
const NAME_MAX = 80;

/**
 * A name that a person chose. Mail programs make links of what looks like an address, also inside of a name; a word joiner (U+2060) behind
 * these characters prevents it and is not seen. Keeps authentication.mail.names.
 */
export function quoted(name: string): string {
  return `“${shownName(name, NAME_MAX).replaceAll(/[.:/@\\]/g, '$&\u2060')}”`;
}

const IGNORE = 'If you did not ask for this, ignore this message: nothing changes.';
const NOT_YOU = 'If this was not you, choose a new password at once and look at the sessions of your account.';

const CONTENTS: { readonly [K in MailKind]: (data: MailData[K]) => Content } = {
  'password-reset': ({ url }) => ({
    subject: 'Choose a new password',
    paragraphs: ['You asked for a new password. This link works once, for 30 minutes.'],
    button: { label: 'Choose a new password', url },
    foot: IGNORE,
  }),
  'account-made': ({ url, workspaceName }) => ({
    subject: `You own the workspace ${quoted(workspaceName)}`,
    paragraphs: [
      'The operator of this service made an account for you. Choose its password: the link works once, for 30 minutes. Later, use “Forgot your password?” at the sign-in.',
    ],
    button: { label: 'Choose a password', url },
    foot: 'If you do not expect this, ignore this message.',
  }),
  'verify-address': ({ url, name }) => ({
    subject: 'Confirm your email address',
    paragraphs: [`Confirm that this is the address of the account of ${quoted(name)}. The link works for a day.`],
    button: { label: 'Confirm address', url },
    foot: IGNORE,
  }),
  registration: ({ url, name, workspaceName }) => ({
    subject: 'Confirm your account',
    paragraphs: [
      `${quoted(name)} asked for an account with this address, to join the workspace ${quoted(workspaceName)}. Nothing exists until you confirm. The link works for a day.`,
    ],
    button: { label: 'Confirm and join', url },
    foot: IGNORE,
  }),
  'already-registered': ({ url, workspaceName }) => ({
    subject: 'You have an account already',
    paragraphs: [
      `You asked for an account with this address, to join the workspace ${quoted(workspaceName)}. There is one already: sign in to join.`,
    ],
    button: { label: 'Sign in and join', url },
    foot: IGNORE,
  }),
  invitation: ({ url, workspaceName, inviter, role, expiresAt }) => ({
    subject: `Invitation to ${quoted(workspaceName)}`,
    paragraphs: [
      `${inviter === null ? 'You are invited' : `${quoted(inviter)} invites you`} to the workspace ${quoted(workspaceName)} with the role ${role}. The invitation ends on ${day(expiresAt)}.`,
      'The link is for you alone: anyone who opens it can join in your name.',
    ],
    button: { label: 'Accept the invitation', url },
    foot: 'If you do not expect an invitation, ignore this message.',
  }),
  welcome: ({ url, workspaceName, role }) => ({
    subject: `Welcome to ${quoted(workspaceName)}`,
    paragraphs: [
      `You are a member of the workspace ${quoted(workspaceName)} now, with the role ${role}.`,
      'Your account page has your API keys, connected apps and sign-ins.',
    ],
    button: { label: 'Open your account', url },
    foot: 'You get this message because you joined with this address.',
  }),
  'change-address': ({ url, name }) => ({
    subject: 'Confirm your new email address',
    paragraphs: [`The account of ${quoted(name)} gets this address when you confirm it. The link works for a day.`],
    button: { label: 'Confirm new address', url },
    foot: IGNORE,
  }),
  'address-changes': ({ url, newAddress }) => ({
    subject: 'The address of your account is to change',
    paragraphs: [
      `Someone who knows your password asked to change the address of your account to ${quoted(newAddress)}. If it was you, there is nothing to do here.`,
      'If it was not you, stop it within 7 days: the account keeps or gets back this address, it is signed out everywhere, and you choose a new password.',
    ],
    button: { label: 'Stop the change', url },
    foot: 'You get this message at the address that the account has now.',
  }),
  'new-sign-in': ({ url, browser, network, at }) => ({
    subject: 'New sign-in to your account',
    paragraphs: [`Your account was used in a new browser and a new network: ${browser}, ${network}, ${moment(at)}.`],
    button: { label: 'Look at your sign-ins', url },
    foot: NOT_YOU,
  }),
  'key-created': ({ url, label, access }) => ({
    subject: 'New API key',
    paragraphs: [`The API key ${quoted(label)} was created in your account: ${access.toLowerCase()}.`],
    button: { label: 'Look at your API keys', url },
    foot: `${NOT_YOU} Revoke the key too.`,
  }),
  'password-changed': ({ url }) => ({
    subject: 'Your password was changed',
    paragraphs: [
      'The password of your account was changed. It is signed out everywhere else, and its apps are disconnected.',
    ],
    button: { label: 'Choose another password', url },
    foot: 'If this was not you, choose a new password at once.',
  }),
  'second-factor-changed': ({ url, what }) => ({
    subject: 'Your second factor was changed',
    paragraphs: [what],
    button: { label: 'Look at your security settings', url },
    foot: NOT_YOU,
  }),
  'only-factor-added': ({ url, what }) => ({
    subject: 'Your account has a second factor',
    paragraphs: [
      what,
      'If it was you, there is nothing to do here.',
      'If it was not you, take the account back within 7 days: its second factors and API keys end, it is signed out everywhere, and you choose a new password.',
    ],
    button: { label: 'It was not me', url },
    foot: 'Do not give this link to anyone. Who opens it can take over the account.',
  }),
};

/** Each kind has one function for its content, from which both forms are made. */
export function renderMail<K extends MailKind>(kind: K, data: MailData[K]): RenderedMail {
  const content = CONTENTS[kind](data);
  return { subject: content.subject, text: textOf(content), html: htmlOf(content) };
}

function textOf({ paragraphs, button, foot }: Content): string {
  return [...paragraphs, `${button.label}:\n${button.url}`, foot, `-- \n${PRODUCT}`].join('\n\n') + '\n';
}

/** Mail programs read styles of elements only. No picture and no address of others: opening a mail sends nothing to any server. */
function htmlOf({ subject, paragraphs, button, foot }: Content): string {
  const quiet = 'margin:0 0 16px;color:#565e6c;font-size:14px';
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${subject}</title>
      </head>
      <body
        style="margin:0;padding:24px 16px;background:#f5f6f8;color:#191c22;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif"
      >
        <div
          style="max-width:480px;margin:0 auto;padding:24px;border:1px solid #dfe2e8;border-radius:12px;background:#ffffff"
        >
          <h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${subject}</h1>
          ${paragraphs.map((paragraph): Html => html`<p style="margin:0 0 16px;overflow-wrap:anywhere">${paragraph}</p>`)}
          <p style="margin:24px 0">
            <a
              href="${button.url}"
              style="display:inline-block;padding:12px 20px;border-radius:8px;background:#2f54c4;color:#ffffff;font-weight:600;text-decoration:none"
              >${button.label}</a
            >
          </p>
          <p style="${quiet};overflow-wrap:anywhere">
            Or open this address:<br /><a href="${button.url}" style="color:#2f54c4">${button.url}</a>
          </p>
          <p style="${quiet}">${foot}</p>
          <p style="${quiet};margin:0">${PRODUCT}</p>
        </div>
      </body>
    </html> `.text;
}

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
const MOMENT = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

function day(at: string): string {
  return DAY.format(new Date(at));
}

function moment(at: string): string {
  return `${MOMENT.format(new Date(at))} UTC`;
}
