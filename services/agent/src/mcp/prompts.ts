/** A task for a model that a person chooses, such as a slash command. */
interface PromptDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly text: string;
}

const ARGUMENTS = [
  { name: 'workspace', description: 'Name or urlKey of a workspace. Default: all.', required: false },
  { name: 'timezone', description: 'IANA time zone, such as Europe/Berlin. Default: UTC.', required: false },
] as const;

const PROMPTS: readonly PromptDefinition[] = [
  {
    name: 'plan_my_day',
    title: 'Plan my day',
    description: 'Looks at what starts and what is due today or before, and proposes an order.',
    text: 'Plan my day. Read my open tasks with find_tasks (assignee "me", view "today", orderBy "deadline"), and those that come next (view "upcoming", limit 10). Propose a realistic order with the overdue and urgent ones first, say what should move to another day, and ask before you change anything.',
  },
  {
    name: 'triage_inbox',
    title: 'Triage the inbox',
    description: 'Goes through tasks without a plan, and proposes project, person, priority and day for each.',
    text: 'Triage the inbox. Read the tasks without a plan with find_tasks (view "inbox"), and the projects and labels with list_projects and list_labels. Propose for each task a project, an assignee, a priority, labels and a day, or to archive it. Show the proposals as a table, and apply them with update_tasks only after I agree.',
  },
];

export const LISTED_PROMPTS = PROMPTS.map(({ name, title, description }) => ({
  name,
  title,
  description,
  arguments: [...ARGUMENTS],
}));

/** The message of a prompt; undefined when there is no such prompt. */
export function promptText(name: string, given: Readonly<Record<string, string>>): string | undefined {
  const prompt = PROMPTS.find((one) => one.name === name);
  if (prompt === undefined) return undefined;
  const chosen = ARGUMENTS.flatMap(({ name: argument }) => {
    const value = Object.hasOwn(given, argument) ? given[argument] : undefined;
    return value === undefined || value === '' ? [] : [`Use ${argument} ${JSON.stringify(value)} in every call.`];
  });
  return [prompt.text, ...chosen].join('\n');
}
