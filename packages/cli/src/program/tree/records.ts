import { CHECKLIST_FIELDS, COMMENT_FIELDS, LABEL_FIELDS, PROJECT_FIELDS, TEAM_FIELDS } from '../../records/fields.ts';
import type { ArgSpec, CommandSpec, Completes, OptionSpec } from '../spec.ts';
import { DRY_RUN, LIMIT } from './options.ts';
import { verbsOf } from './verbs.ts';

const NAME: ArgSpec = { form: '<name...>', about: 'The name. Its words need no quotes.' };
const ARCHIVED: OptionSpec = { flags: '--archived', about: 'Those that are archived.' };
const TEXT: OptionSpec = {
  flags: '-d, --description <text>',
  about: 'Markdown; - reads it from stdin, @file from a file.',
};
const NEW_NAME: OptionSpec = { flags: '-t, --name <text>', about: 'The new name.' };
const one = (noun: Completes): ArgSpec => ({ form: `<${noun}>`, about: 'Its name, key or id.', completes: noun });
const several = (noun: Completes): ArgSpec => ({ form: `<${noun}...>`, about: 'Names, keys or ids.', completes: noun });

const PROJECT_OPTIONS: readonly OptionSpec[] = [
  TEXT,
  { flags: '--key <key>', about: 'The short code, such as WEB.' },
  { flags: '-s, --status <status>', about: 'The status.', choices: ['active', 'on_hold', 'done', 'dropped'] },
  { flags: '--lead <name>', about: 'Who leads it; "none" for none.', completes: 'person' },
  { flags: '--team <name>', about: 'The team that owns it; "none" for none.', completes: 'team' },
  { flags: '--start <day>', about: 'Planned start; "none" for none.' },
  { flags: '--target <day>', about: 'Planned end; "none" for none.' },
  { flags: '--private', about: 'Only its members see it.' },
  { flags: '--public', about: 'All members of the workspace see it.' },
];

export const PROJECT: CommandSpec = {
  name: 'project',
  summary: 'Work with projects',
  implied: 'show',
  commands: verbsOf({ fields: Object.keys(PROJECT_FIELDS) }, () => import('../../commands/project.ts'), {
    list: {
      summary: 'List projects',
      options: [
        {
          flags: '-s, --status <status>',
          about: 'With this status.',
          choices: ['active', 'on_hold', 'done', 'dropped'],
        },
        { flags: '--team <name>', about: 'Of this team.', completes: 'team' },
        ARCHIVED,
        LIMIT,
      ],
      examples: [{ command: 'wts project list --status active' }],
    },
    show: {
      summary: 'Show a project',
      args: [one('project')],
      examples: [{ command: 'wts project web' }],
    },
    add: {
      summary: 'Create a project',
      about: 'Without --key, one is made of the name.',
      args: [NAME],
      options: PROJECT_OPTIONS,
      examples: [
        {
          command: 'wts project add Web site --key WEB --lead me --target "end of month"',
          prints: 'Created Web site (WEB)',
        },
      ],
    },
    edit: {
      summary: 'Change a project',
      args: [one('project')],
      options: [NEW_NAME, ...PROJECT_OPTIONS],
      examples: [{ command: 'wts project edit web --status on_hold' }],
    },
    done: {
      summary: 'Complete projects',
      args: [several('project')],
      examples: [{ command: 'wts project done web' }],
    },
    reopen: {
      summary: 'Open completed projects again',
      args: [several('project')],
      examples: [{ command: 'wts project reopen web' }],
    },
    archive: {
      summary: 'Archive projects, which hides them with their tasks',
      args: [several('project')],
      examples: [{ command: 'wts project archive web', prints: 'Archived Web site (WEB)' }],
    },
    restore: {
      summary: 'Restore archived projects',
      args: [several('project')],
      examples: [{ command: 'wts project restore web', prints: 'Restored Web site (WEB)' }],
    },
    remove: {
      summary: 'Delete projects for good, with their tasks',
      args: [several('project')],
      options: [DRY_RUN],
      examples: [{ command: 'wts project delete web --dry-run', prints: 'Would delete Web site (WEB)' }],
    },
    members: {
      summary: 'List, add and remove the members of a private project',
      args: [one('project')],
      options: [
        { flags: '--add <name>', about: 'Add a member of the workspace.', completes: 'person' },
        { flags: '--remove <name>', about: 'Remove a person.', completes: 'person' },
      ],
      examples: [{ command: 'wts project members secret --add ana' }],
      fields: ['userId', 'name', 'email', 'avatarUrl', 'role', 'joinedAt'],
    },
  }),
};

const LABEL_OPTIONS: readonly OptionSpec[] = [
  { flags: '--color <color>', about: 'As #rgb or #rrggbb; "none" for none.' },
  { flags: '--team <name>', about: 'A label of this team; "none" for the whole workspace.', completes: 'team' },
];

export const LABEL: CommandSpec = {
  name: 'label',
  summary: 'Work with labels',
  commands: verbsOf({ fields: Object.keys(LABEL_FIELDS) }, () => import('../../commands/label.ts'), {
    list: {
      summary: 'List labels',
      options: [ARCHIVED, LIMIT],
      examples: [{ command: 'wts label list' }],
    },
    add: {
      summary: 'Create a label',
      args: [NAME],
      options: LABEL_OPTIONS,
      examples: [{ command: "wts label add urgent --color '#d33'", prints: 'Created urgent' }],
    },
    edit: {
      summary: 'Change a label',
      args: [one('label')],
      options: [NEW_NAME, ...LABEL_OPTIONS],
      examples: [{ command: 'wts label edit urgent --name today', prints: 'Changed today' }],
    },
    archive: {
      summary: 'Archive labels',
      args: [several('label')],
      examples: [{ command: 'wts label archive urgent', prints: 'Archived urgent' }],
    },
    restore: {
      summary: 'Restore archived labels',
      args: [several('label')],
      examples: [{ command: 'wts label restore urgent', prints: 'Restored urgent' }],
    },
    remove: {
      summary: 'Delete labels for good',
      args: [several('label')],
      options: [DRY_RUN],
      examples: [{ command: 'wts label delete urgent --dry-run', prints: 'Would delete urgent' }],
    },
  }),
};

const TEAM_OPTIONS: readonly OptionSpec[] = [TEXT, { flags: '--key <key>', about: 'The short code, such as WEB.' }];

export const TEAM: CommandSpec = {
  name: 'team',
  summary: 'Work with teams',
  implied: 'show',
  commands: verbsOf({ fields: Object.keys(TEAM_FIELDS) }, () => import('../../commands/team.ts'), {
    list: {
      summary: 'List teams',
      options: [ARCHIVED, LIMIT],
      examples: [{ command: 'wts team list' }],
    },
    show: {
      summary: 'Show a team',
      args: [one('team')],
      examples: [{ command: 'wts team web' }],
    },
    add: {
      summary: 'Create a team',
      args: [NAME],
      options: TEAM_OPTIONS,
      examples: [{ command: 'wts team add Web site --key WEB', prints: 'Created Web site (WEB)' }],
    },
    edit: {
      summary: 'Change a team',
      args: [one('team')],
      options: [NEW_NAME, ...TEAM_OPTIONS],
      examples: [{ command: 'wts team edit web --key SITE', prints: 'Changed Web site (SITE)' }],
    },
    archive: {
      summary: 'Archive teams',
      args: [several('team')],
      examples: [{ command: 'wts team archive web', prints: 'Archived Web site (WEB)' }],
    },
    restore: {
      summary: 'Restore archived teams',
      args: [several('team')],
      examples: [{ command: 'wts team restore web', prints: 'Restored Web site (WEB)' }],
    },
    remove: {
      summary: 'Delete teams for good',
      args: [several('team')],
      options: [DRY_RUN],
      examples: [{ command: 'wts team delete web --dry-run', prints: 'Would delete Web site (WEB)' }],
    },
    members: {
      summary: 'List, add and remove the members of a team',
      args: [one('team')],
      options: [
        { flags: '--add <name>', about: 'Add a member of the workspace.', completes: 'person' },
        { flags: '--remove <name>', about: 'Remove a person.', completes: 'person' },
      ],
      fields: ['id', 'userId', 'user'],
      examples: [{ command: 'wts team members web --add ana' }],
    },
  }),
};

const TASK: ArgSpec = { form: '<task>', about: 'The task.', completes: 'task' };
const COMMENT: ArgSpec = { form: '<comment>', about: 'The id of the comment.' };

export const COMMENTS: CommandSpec = {
  name: 'comment',
  summary: 'Work with the comments of a task',
  implied: 'list',
  commands: verbsOf({ fields: Object.keys(COMMENT_FIELDS) }, () => import('../../commands/comment.ts'), {
    list: {
      summary: 'List the comments of a task',
      args: [TASK],
      options: [LIMIT],
      examples: [{ command: 'wts comment ACME-12' }],
    },
    add: {
      summary: 'Comment on a task',
      about: 'Without a text at a terminal an editor opens; otherwise it is read from stdin.',
      args: [TASK, { form: '[text...]', about: 'Markdown; - reads it from stdin, @file from a file.' }],
      options: [{ flags: '--reply <comment>', about: 'The id of the comment to reply to.' }],
      examples: [{ command: 'wts comment add ACME-12 The draft is ready.', prints: 'Commented on ACME-12' }],
    },
    edit: {
      summary: 'Change a comment of yours',
      args: [COMMENT, { form: '[text...]', about: 'The new text.' }],
      examples: [{ command: 'wts comment edit 5d0fa963-0c5e-4b56-9a35-5a0f6d1c9a44 The final draft is ready.' }],
    },
    remove: {
      summary: 'Delete a comment with its replies',
      args: [COMMENT],
      options: [DRY_RUN],
      examples: [{ command: 'wts comment delete 5d0fa963-0c5e-4b56-9a35-5a0f6d1c9a44 --dry-run' }],
    },
  }),
};

const ITEMS: ArgSpec = { form: '<item...>', about: 'Numbers of the list, titles, parts of titles, or ids.' };

export const CHECKLIST: CommandSpec = {
  name: 'checklist',
  summary: 'Work with the checklist of a task',
  implied: 'list',
  commands: verbsOf({ fields: Object.keys(CHECKLIST_FIELDS) }, () => import('../../commands/checklist.ts'), {
    list: {
      summary: 'List the items of a task',
      args: [TASK],
      examples: [
        { command: 'wts checklist ACME-12', prints: 'NO  DONE  TITLE\n 1  [x]   Write it\n 2  [ ]   Send it' },
      ],
    },
    add: {
      summary: 'Add items to a task',
      args: [TASK, { form: '<title...>', about: 'A title each: quote those of several words.' }],
      examples: [
        { command: 'wts checklist add ACME-12 "Write it" "Send it"', prints: 'Added Write it\nAdded Send it' },
      ],
    },
    check: {
      summary: 'Check items off',
      args: [TASK, ITEMS],
      examples: [{ command: 'wts checklist check ACME-12 1', prints: 'Done: Write it' }],
    },
    uncheck: {
      summary: 'Open items again',
      args: [TASK, ITEMS],
      examples: [{ command: 'wts checklist uncheck ACME-12 1', prints: 'Open: Write it' }],
    },
    remove: {
      summary: 'Delete items',
      args: [TASK, ITEMS],
      examples: [{ command: 'wts checklist delete ACME-12 2' }],
    },
  }),
};
