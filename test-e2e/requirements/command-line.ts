import type { Rule } from './rule.ts';

const of = (id: string, text: string, home: string): Rule => ({
  id: `cli.${id}`,
  source: 'Design 11',
  text,
  home: `packages/cli/src/${home}`,
});

/** The command line, `wts`. */
export const commandLine: readonly Rule[] = [
  of(
    'output.streams',
    'Data goes to stdout and everything else to stderr. A pipe gets full values separated by tabs, without a header or colors.',
    'output/output.ts',
  ),
  of(
    'output.json',
    'With `--json` a command prints the shapes of the API, and an error as JSON on stderr.',
    'output/output.ts',
  ),
  of('output.safe', 'No control character in a text of a person reaches a terminal.', 'output/safe-text.ts'),
  of('exit.codes', 'The exit code says what happened, by one table that `wts help exit-codes` shows.', 'fault.ts'),
  of(
    'exit.ends',
    'Ctrl-C ends with one line and 130; a reader of the output that has enough, with 0 and no line.',
    'program/run.ts',
  ),
  of(
    'batch.partly',
    'Of several things, those that fail are reported one by one, and the exit code is 9.',
    'commands/changes.ts',
  ),
  of(
    'delete.confirmed',
    'Deletion for good happens after its key was typed, or with `--yes`; where no person can be asked, it is refused.',
    'commands/ask.ts',
  ),
  of(
    'settings.order',
    'A flag takes precedence over the environment, that over the file `.wts`, that over the profile; the file names no server.',
    'session/settings.ts',
  ),
  of(
    'settings.kept',
    'Of two programs that change the settings at the same time, as two logins, neither undoes the change of the other.',
    'session/config-lock.ts',
  ),
  of('credential.origin', 'A credential is printed nowhere, and no redirect is followed with it.', 'session/fetch.ts'),
  of(
    'watch.once',
    '`wts watch` prints each change once, also when it is started again with its cursor.',
    'commands/watch.ts',
  ),
  of(
    'names.task',
    'A task is named by its key, number, id, beginning of its id, address or title; what may mean several is refused.',
    'commands/find-task.ts',
  ),
  of(
    'complete.silent',
    'Completion knows commands, options, keys and names, waits at most 300 ms for them, and never prints an error.',
    'program/completion.ts',
  ),
];
