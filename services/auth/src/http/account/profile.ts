import * as pages from '../../pages/account/profile.ts';
import type { Section } from './view.ts';

export const workspacesSection: Section = async ({ context, session }) =>
  pages.workspacesSection(await context.workspaces.listOf(session.userId));

export const linksSection: Section = async ({ context }) => pages.linksSection(context.oauth.resources[0]);
