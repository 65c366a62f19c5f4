import { TASK_FIELD_NAMES } from '../../records/fields.ts';
import type { ArgSpec, CommandSpec, OptionSpec } from '../spec.ts';
import { DRY_RUN, LIMIT } from './options.ts';
import { verbsOf } from './verbs.ts';

const PRIORITIES = ['none', 'urgent', 'high', 'medium', 'low'];
const LISTS = ['inbox', 'today', 'upcoming', 'anytime', 'someday', 'logbook'];
const STATES = ['open', 'done', 'archived', 'any'];

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
  { flags: '-l, --list <name>', about: 'Put it into a list of the app.', choices: ['inbox', 'anytime', 'someday'] },
];

const REPEAT: OptionSpec = {
  flags: '--repeat <words>',
  about: 'How it repeats: "every monday", "every 1st", "every 3 days after completion", or an RFC 5545 rule.',
};
const TASKS: ArgSpec = {
  form: '<task...>',
  about: 'Keys, numbers, ids, addresses or titles of tasks; - reads them from stdin, one a line.',
  completes: 'task',
};

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

const lists = () => import('../../commands/task-list.ts');
const OF_TASK = { fields: TASK_FIELD_NAMES } as const;

export const TASK: CommandSpec = {
  name: 'task',
  summary: 'Work with tasks',
  implied: 'show',
  examples: [{ command: 'wts task ACME-12' }, { command: 'wts task list --project website --due-to "end of month"' }],
  commands: [
    ...verbsOf(OF_TASK, lists, {
      list: {
        summary: 'List tasks',
        examples: [
          {
            command: 'wts task list --assignee me',
            prints: 'KEY      TITLE             DUE         PROJECT\nACME-12  Write the report  Fri 27 Nov  Website',
          },
          { command: 'wts task list --state done --order completed --limit 10 --json number,title,completedAt' },
        ],
        options: LIST_OPTIONS,
      },
    }),
    ...verbsOf(OF_TASK, () => import('../../commands/task-show.ts'), {
      show: {
        summary: 'Show a task with its checklist and its comments',
        args: [
          {
            form: '<task>',
            about: 'Its key (ACME-12), number, id, beginning of its id, address, or title.',
            completes: 'task',
          },
        ],
        examples: [{ command: 'wts task ACME-12' }],
      },
    }),
    ...verbsOf(OF_TASK, () => import('../../commands/task-add.ts'), {
      add: {
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
          REPEAT,
          { flags: '--label <name>', about: 'A label; repeat it for several.', isRepeated: true, completes: 'label' },
        ],
      },
    }),
    ...verbsOf({ ...OF_TASK, args: [TASKS] }, () => import('../../commands/task-change.ts'), {
      edit: {
        summary: 'Change tasks',
        about: 'The same change of each of them. For one task and without options, an editor opens.',
        examples: [
          {
            command: 'wts task edit ACME-12 --due +1w --add-label urgent',
            prints: 'Changed ACME-12 Write the report, due Fri 4 Dec',
          },
          { command: 'wts task list --assignee ana -q | wts task edit - --assignee me' },
        ],
        options: [
          { flags: '-t, --title <text>', about: 'The new title.' },
          ...FIELDS,
          {
            flags: '--label <name>',
            about: 'All labels it has from now on; "none" for none.',
            isRepeated: true,
            completes: 'label',
          },
          {
            flags: '--add-label <name>',
            about: 'A label to add; the others stay.',
            isRepeated: true,
            completes: 'label',
          },
          {
            flags: '--remove-label <name>',
            about: 'A label to remove; the others stay.',
            isRepeated: true,
            completes: 'label',
          },
        ],
      },
      done: {
        summary: 'Complete tasks',
        examples: [{ command: 'wts task done ACME-12', prints: 'Done ACME-12 Write the report' }],
      },
      reopen: {
        summary: 'Open completed tasks again',
        examples: [{ command: 'wts task reopen ACME-12', prints: 'Reopened ACME-12 Write the report' }],
      },
      trash: {
        summary: 'Move tasks to the Trash',
        examples: [{ command: 'wts task trash ACME-12', prints: 'Moved to the Trash ACME-12 Write the report' }],
      },
      restore: {
        summary: 'Restore tasks from the Trash',
        examples: [{ command: 'wts task restore ACME-12', prints: 'Restored ACME-12 Write the report' }],
      },
      remove: {
        summary: 'Delete tasks for good',
        about:
          'With their comments and checklists, and without a way back: wts task trash has one. You type the key to confirm.',
        examples: [{ command: 'wts task delete ACME-12 --dry-run', prints: 'Would delete ACME-12 (…)' }],
        options: [DRY_RUN],
      },
      move: {
        summary: 'Move tasks to another project, or to another place in their list',
        examples: [
          { command: 'wts task move ACME-12 --after ACME-3' },
          { command: 'wts task move ACME-12 ACME-13 --project website' },
        ],
        options: [
          { flags: '-p, --project <name>', about: 'Into this project; "none" for none.', completes: 'project' },
          { flags: '--before <task>', about: 'Before this task.', completes: 'task' },
          { flags: '--after <task>', about: 'After this task.', completes: 'task' },
        ],
      },
      repeat: {
        summary: 'Make a task repeat, or end its series',
        examples: [
          {
            command: 'wts task repeat ACME-12 every monday and thursday',
            prints: 'Changed ACME-12 Water the plants, due today, repeats every Monday and Thursday',
          },
          { command: 'wts task repeat ACME-12 every 3 days after completion' },
          { command: 'wts task repeat ACME-12 none' },
        ],
        args: [
          { form: '<task>', about: 'The task.', completes: 'task' },
          { form: '<words...>', about: 'How it repeats, or "none".' },
        ],
      },
      skip: {
        summary: 'Skip an occurrence: the task goes to the next day of its rule',
        examples: [{ command: 'wts task skip ACME-12', prints: 'Skipped ACME-12 Water the plants, due Thu 3 Dec' }],
      },
    }),
  ],
};

/** The quick ways to the same. */
export const QUICK: readonly CommandSpec[] = [
  {
    name: 'add',
    summary: 'Create a task from one line of quick words',
    about:
      '#name is a project, or else a label; @name a person; !1 to !4 a priority (!urgent, !high, !medium, !low). Days and repetition stand at the end: tomorrow, due friday, starts monday, every 1st. A backslash keeps a mark in the title: \\#1. Quotes join names with blanks: #"Big project".',
    examples: [
      {
        command: 'wts add "Pay rent every 1st #home @ana !2"',
        prints:
          'Created ACME-14 Pay rent, in Home, for Ana, due Tue 1 Dec, repeats every month on the 1st day of the month',
      },
      { command: 'wts add "Call the bank tomorrow" --dry-run' },
    ],
    args: [{ form: '<words...>', about: 'The title with its quick words.' }],
    options: [DRY_RUN],
    fields: TASK_FIELD_NAMES,
    load: async () => (await import('../../commands/quick-add.ts')).quickAdd,
  },
  ...verbsOf(OF_TASK, lists, {
    today: listing('today', 'List what starts or is due today or before'),
    inbox: listing('inbox', 'List what has no plan yet'),
    upcoming: listing('upcoming', 'List what starts later'),
  }),
];

/** A list of the app, of one person. */
function listing(name: string, summary: string): Omit<CommandSpec, 'name' | 'load'> {
  return {
    summary,
    about:
      'Tasks that are assigned to you, and those of yours that are assigned to no person, unless --assignee or --everyone is given.',
    examples: [{ command: `wts ${name}` }, { command: `wts ${name} --everyone --json number,title` }],
    options: [
      { flags: '--everyone', about: 'The tasks of all people.' },
      ...LIST_OPTIONS.filter(({ flags }) => !/--(?:list|state) /.test(flags)),
    ],
  };
}
