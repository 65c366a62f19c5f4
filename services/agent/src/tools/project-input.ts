import type { TypeOf } from '@wts/contracts';
import { Project } from '@wts/models';
import { dayOf } from '@wts/models/words';
import { inputOf } from '../views/fields.ts';
import { object, wordOrNull } from '../views/parts.ts';
import { resolved, type Resolving } from './task-input.ts';

const { fields: FIELDS } = Project;

/** What creating and changing a project have in common. */
export const PROJECT_INPUT = {
  name: inputOf(FIELDS.name),
  key: inputOf(FIELDS.key, 'Short code, such as WEB.'),
  description: inputOf(FIELDS.description, 'Markdown.'),
  status: inputOf(FIELDS.status, 'done completes the project.'),
  lead: wordOrNull('"me", name, e-mail address or id of a member; null for no lead.'),
  team: wordOrNull('Name, key or id of a team; null for none.'),
  startDate: wordOrNull('YYYY-MM-DD, "today", "next monday", "in 3 days", +2w; null for none.'),
  targetDate: wordOrNull('Planned end, in the same words; null for none.'),
} as const;

const ALL = object(PROJECT_INPUT, []);

/** The input of GraphQL for words. Throws for a word that fits nothing. */
export async function projectInputOf(
  { name, key, description, status, lead, team, startDate, targetDate }: TypeOf<typeof ALL>,
  { names, workspace, today }: Resolving,
): Promise<object> {
  const [leadId, teamId] = await Promise.all([
    resolved(lead, (given) => names.person(given, workspace)),
    resolved(team, (given) => names.team(given, workspace)),
  ]);
  const days = {
    startDate: await resolved(startDate, async (given) => dayOf(given, today)),
    targetDate: await resolved(targetDate, async (given) => dayOf(given, today)),
  };
  const input = { name, key, description, status, leadId, teamId, ...days };
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
