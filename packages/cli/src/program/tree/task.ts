import { TASK_FIELD_NAMES } from '../../records/task-fields.ts';
import type { CommandSpec, OptionSpec } from '../spec.ts';

const PRIORITIES = ['none', 'urgent', 'high', 'medium', 'low'];
const LISTS = ['inbox', 'today', 'upcoming', 'anytime', 'someday', 'logbook'];
const STATES = ['open', 'done', 'archived', 'any'];

const LIMIT: OptionSpec = { flags: '-L, --limit <number>', about: 'At most so many. Default: 50.' };

/** What sets fields of a task. */
const FIELDS: readonly OptionSpec[] = [
  { flags: '-d, --description <text>', about: 'Markdown; - reads it from stdin, @file from a file.' },
  { flags: '-p, --project <name>', about: 'Name, key or id of a project; "none" for none.', completes: 'project' },
  { flags: '--team <name>', about: 'Name, key or id of a team; "none" for none.', completes: 'team' },
  {
    flags: '-a, --assignee <name>',
    about: '"me", a name, an e-mail address or an id; "none" for none.',
    completes: 'person',
  },
  { flags: '--priority <word>', about: 'How urgent it is.', choices: PRIORITIES },
  {
    flags: '--start <day>',
    about: 'Planned start: a day such as "monday", "in 3 days", +2w, 2026-12-01; "none" for none.',
  },
  { flags: '--due <day>', about: 'Due day, in the same words.' },
];

const LIST_OPTIONS: readonly OptionSpec[] = [
  { flags: '-l, --list <name>', about: 'A list of the app.', choices: LISTS },
  { flags: '-s, --state <state>', about: 'Default: open; archived are those in the Trash.', choices: STATES },
  { flags: '-p, --project <name>', about: 'Of this project; "none" for those without one.', completes: 'project' },
  { flags: '--team <name>', about: 'Of this team; "none" for those without one.', completes: 'team' },
  { flags: '-a, --assignee <name>', about: 'Of this person: "me", a name, an address, "none".', completes: 'person' },
  { flags: '--label <name>', about: 'With this label; repeat it for several.', isRepeated: true, completes: 'label' },
  {
    flags: '--priority <word>',
    about: 'With this priority; repeat it for any of several.',
    choices: PRIORITIES,
    isRepeated: true,
  },
  { flags: '--due-from <day>', about: 'Due on this day or later.' },
  { flags: '--due-to <day>', about: 'Due on this day or before.' },
  { flags: '--start-from <day>', about: 'Starts on this day or later.' },
  { flags: '--start-to <day>', about: 'Starts on this day or before.' },
  { flags: '-S, --search <words>', about: 'With these words in the title or the description.' },
  {
    flags: '--order <order>',
    about: 'Default: newest.',
    choices: ['newest', 'oldest', 'updated', 'due', 'start', 'completed', 'title'],
  },
  LIMIT,
];

export const TASK: CommandSpec = {
  name: 'task',
  summary: 'Work with tasks',
  implied: 'show',
  examples: [{ command: 'wts task ACME-12' }, { command: 'wts task list --project website --due-to "end of month"' }],
  commands: [
    {
      name: 'list',
      summary: 'List tasks',
      examples: [
        {
          command: 'wts task list --assignee me',
          prints: 'KEY      TITLE             PROJECT  DUE\nACME-12  Write the report  Website  Fri 27 Nov',
        },
        { command: 'wts task list --state done --order completed --limit 10 --json number,title,completedAt' },
      ],
      options: LIST_OPTIONS,
      fields: TASK_FIELD_NAMES,
      load: async () => (await import('../../commands/task-list.ts')).list,
    },
    {
      name: 'show',
      summary: 'Show a task with its checklist and its comments',
      args: [
        {
          form: '<task>',
          about: 'Its key (ACME-12), number, id, beginning of its id, address, or title.',
          completes: 'task',
        },
      ],
      fields: TASK_FIELD_NAMES,
      load: async () => (await import('../../commands/task-show.ts')).show,
    },
    {
      name: 'add',
      summary: 'Create a task',
      about: 'Where no title is given at a terminal, an editor opens. For one line of quick words see wts add.',
      examples: [
        {
          command: 'wts task add Write the report --project website --due friday --priority high',
          prints: 'Created ACME-12 Write the report, due Fri 27 Nov',
        },
        { command: 'wts task add "Release notes" --description @notes.md --label docs --label release' },
      ],
      args: [{ form: '[title...]', about: 'The title. Its words need no quotes.' }],
      options: [
        ...FIELDS,
        { flags: '--label <name>', about: 'A label; repeat it for several.', isRepeated: true, completes: 'label' },
      ],
      fields: TASK_FIELD_NAMES,
      load: async () => (await import('../../commands/task-add.ts')).add,
    },
  ],
};
