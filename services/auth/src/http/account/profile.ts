import { pageApi } from '@wts/contracts';
import { changeName } from '../../commands/change-name.ts';
import * as pages from '../../pages/account/profile.ts';
import { mountPage } from '../mount-page.ts';
import { sessionOf, wrongIn, type Account, type Section } from './view.ts';

export const nameSection: Section = async (view) => {
  const { site, session, csrf, shown } = view;
  const name = shown.entered?.['name'] ?? session.name;
  return pages.nameSection(site, { csrf, name, wrong: wrongIn(view, 'name') });
};

export const workspacesSection: Section = async ({ context, session }) =>
  pages.workspacesSection(await context.directory.workspacesOf(session.userId));

export const linksSection: Section = async ({ context }) => pages.linksSection(context.oauth.resources.of(0).api);

export function mountName({ pages: mounted, context, refuse, done }: Account): void {
  mountPage(mounted, pageApi.changeName, async (call) => {
    const name = call.form.text('name');
    if (await changeName(context, sessionOf(call), name)) return done('profile', 'name');
    const text = 'Enter a name that others can read.';
    return refuse(call, 'profile', { entered: { name }, wrong: { about: 'name', text } });
  });
}
