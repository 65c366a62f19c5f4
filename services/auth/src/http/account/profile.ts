import { pageApi } from '@wts/contracts';
import { changeName } from '../../commands/change-name.ts';
import * as sections from '../../pages/account/profile.ts';
import { mountPage } from '../mount-page.ts';
import { sessionOf, wrongIn, type Account, type Section } from './view.ts';

export const nameSection: Section = async (view) => {
  const { pages, session, csrf, shown } = view;
  const name = shown.entered?.['name'] ?? session.name;
  return sections.nameSection(pages.site, { csrf, name, wrong: wrongIn(view, 'name') });
};

export const workspacesSection: Section = async ({ pages, session }) =>
  sections.workspacesSection(await pages.directory.workspacesOf(session.userId));

export const linksSection: Section = async ({ pages }) => sections.linksSection(pages.oauth.resources.of(0).api);

export function mountName({ pages, refuse, done }: Account): void {
  mountPage(pages, pageApi.changeName, async (call) => {
    const name = call.form.text('name');
    if (await changeName(pages, sessionOf(call), name)) return done('profile', 'name');
    const text = 'Enter a name that others can read.';
    return refuse(call, 'profile', { entered: { name }, wrong: { about: 'name', text } });
  });
}
