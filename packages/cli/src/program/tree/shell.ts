import type { CommandSpec } from '../spec.ts';

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

export const COMPLETE: CommandSpec = {
  name: '__complete',
  summary: 'What may stand at the end of a line, for a shell',
  isHidden: true,
  args: [{ form: '[words...]', about: 'The words after wts, up to the cursor.' }],
  load: async () => (await import('../completion.ts')).complete,
};
