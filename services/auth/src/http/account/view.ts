import { Fault } from '@wts/contracts';
import type { AccountPageName } from '../../pages/account/layout.ts';
import type { Html } from '../../pages/html.ts';
import type { Session } from '../../store/sessions.ts';
import type { Account as StoredAccount } from '../../store/accounts.ts';
import type { PageAnswer, PageCall, Pages } from '../mount-page.ts';

/** What a page shows besides what is stored, after a form that was refused. */
export interface Shown {
  /** The section whose form it was, and what is wrong. */
  readonly wrong?: { readonly about: string; readonly text: string };
  /** What the person entered, by field. */
  readonly entered?: Readonly<Record<string, string>>;
}

/** One page of the account for one person. */
export interface AccountView {
  readonly pages: Pages;
  readonly call: PageCall;
  readonly session: Session;
  readonly csrf: string;
  readonly shown: Shown;
}

/** A part of a page, which reads what it shows. Null for a person who has nothing of it. */
export type Section = (view: AccountView) => Promise<Html | null>;

/** What the forms of sections use. */
export interface Account {
  readonly pages: Pages;
  /** The page again, with what is wrong. */
  readonly refuse: (call: PageCall, page: AccountPageName, shown: Shown) => Promise<PageAnswer>;
  /** The page, with the sentence of `DONE`. */
  readonly done: (page: AccountPageName, done: string) => PageAnswer & { readonly to: string };
}

/** What was wrong with the form of a section. */
export function wrongIn({ shown: { wrong } }: AccountView, about: string): string | null {
  return wrong?.about === about ? wrong.text : null;
}

/** The token of the form was that of a session, so it ended just now. */
export function sessionOf({ browser: { session } }: PageCall): Session {
  if (session === null) throw new Fault('forbidden', { message: 'You are signed out. Sign in and try again.' });
  return session;
}

/** The account of the person; null for one who signs in at the identity provider. */
export async function accountOf({ pages, session }: AccountView): Promise<StoredAccount | null> {
  return pages.hasAccounts ? pages.accounts.find(session.accountId) : null;
}
