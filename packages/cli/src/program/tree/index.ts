import type { CommandSpec } from '../spec.ts';
import { TOPICS } from '../topics.ts';
import { ADMIN } from './admin.ts';
import { API, GRAPHQL } from './raw.ts';
import { CHECKLIST, COMMENTS, LABEL, PROJECT, TEAM } from './records.ts';
import { COMPLETE, COMPLETION, CONFIG } from './shell.ts';
import { API_KEY, AUTH, DOCTOR, LOGIN, LOGOUT } from './sign-in.ts';
import { QUICK, TASK } from './task.ts';
import { EXPORT, IMPORT } from './transfer.ts';
import { WEBHOOK } from './webhook.ts';
import { HISTORY, SEARCH, WATCH, WORKSPACES } from './workspace.ts';

export const ROOT: CommandSpec = {
  name: 'wts',
  summary: 'Tasks of a Workspace Task Service, from the command line',
  examples: [
    { command: 'wts login' },
    {
      command: 'wts task add "Write the report" --due friday',
      prints: 'Created ACME-12 Write the report, due Fri 27 Nov',
    },
    { command: 'wts task list --assignee me' },
    { command: 'wts task ACME-12' },
  ],
  options: [{ flags: '-V, --version', about: 'Show the version of this program.' }],
  commands: [
    TASK,
    ...QUICK,
    SEARCH,
    PROJECT,
    LABEL,
    TEAM,
    COMMENTS,
    CHECKLIST,
    WORKSPACES,
    HISTORY,
    WATCH,
    {
      name: 'whoami',
      summary: 'Show who you are, where, and by which credential',
      examples: [{ command: 'wts whoami', prints: 'Demo Owner <demo@example.com>' }],
      fields: ['id', 'name', 'email', 'username'],
      load: async () => (await import('../../commands/whoami.ts')).whoami,
    },
    EXPORT,
    IMPORT,
    LOGIN,
    LOGOUT,
    AUTH,
    API_KEY,
    WEBHOOK,
    DOCTOR,
    ADMIN,
    GRAPHQL,
    API,
    CONFIG,
    COMPLETION,
    COMPLETE,
    {
      name: 'help',
      summary: 'Show the help of a command or a topic',
      examples: [{ command: 'wts help task add' }, { command: 'wts help exit-codes' }],
      args: [
        {
          form: '[words...]',
          about: `A command such as "task add", or a topic: ${TOPICS.map(({ name }) => name).join(', ')}.`,
          completes: 'topic',
        },
      ],
      load: async () => (await import('../help-command.ts')).help,
    },
  ],
};
