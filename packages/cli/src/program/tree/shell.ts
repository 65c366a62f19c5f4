import type { CommandSpec } from '../spec.ts';
import { verbsOf } from './verbs.ts';

export const COMPLETION: CommandSpec = {
  name: 'completion',
  summary: 'Complete commands, options, keys and names in bash, zsh and fish',
  examples: [
    { command: 'wts completion install', prints: 'Installed the completion for bash. It works in new shells.' },
    { command: 'source <(wts completion zsh)' },
  ],
  args: [
    {
      form: '<shell>',
      about: 'Print the script of bash, zsh or fish; install writes it where the shell finds it.',
      choices: ['install', 'bash', 'zsh', 'fish'],
    },
    { form: '[for]', about: 'Of install: the shell. Default: that of $SHELL.', choices: ['bash', 'zsh', 'fish'] },
  ],
  load: async () => (await import('../completion.ts')).completion,
};

const SETTING = { form: '<name>', about: 'The setting.', choices: ['profile', 'workspace'] } as const;
const HERE = { flags: '--here', about: 'In the file .wts of this folder, for it and those below it.' } as const;

export const CONFIG: CommandSpec = {
  name: 'config',
  summary: 'Show settings with their sources, and change them',
  about: 'A flag takes precedence over the environment, that over the file .wts, that over the profile.',
  commands: verbsOf({}, () => import('../../commands/config.ts'), {
    list: {
      summary: 'List settings, with where each comes from',
      examples: [
        {
          command: 'wts config list',
          prints:
            'SETTING    VALUE                    FROM\nurl        https://api.example.com  profile api.example.com\nworkspace  acme                     /projects/acme/.wts',
        },
      ],
      fields: ['name', 'value', 'source'],
    },
    get: {
      summary: 'Print a setting',
      args: [{ form: '<name>', about: 'As wts config list names it.' }],
      fields: ['name', 'value', 'source'],
      examples: [{ command: 'wts config get workspace', prints: 'acme' }],
    },
    set: {
      summary: 'Set the profile, or the workspace of the profile',
      args: [SETTING, { form: '<value>', about: 'The value.' }],
      options: [HERE],
      examples: [{ command: 'wts config set profile work' }, { command: 'wts config set workspace acme --here' }],
    },
    unset: {
      summary: 'Take a setting away',
      args: [SETTING],
      options: [HERE],
      examples: [{ command: 'wts config unset workspace --here' }],
    },
  }),
};

export const COMPLETE: CommandSpec = {
  name: '__complete',
  summary: 'What may stand at the end of a line, for a shell',
  isHidden: true,
  args: [{ form: '[words...]', about: 'The words after wts, up to the cursor.' }],
  load: async () => (await import('../completion.ts')).complete,
};
