import type { Rows } from './rule.ts';

/** The command line, `wts`. */
// prettier-ignore
export const commandLine: Rows = [
  ['cli.output.streams', 'Data goes to stdout and everything else to stderr. A pipe gets full values separated by tabs, without a header or colors.', 'packages/cli/src/output/output.ts', 'Design 11'],
  ['cli.output.json', 'With `--json` a command prints the shapes of the API, and an error as JSON on stderr.', 'packages/cli/src/output/output.ts', 'Design 11'],
  ['cli.output.safe', 'No control character in a text of a person reaches a terminal.', 'packages/cli/src/output/safe-text.ts', 'Design 11'],
  ['cli.exit.codes', 'The exit code says what happened, by one table that `wts help exit-codes` shows.', 'packages/cli/src/fault.ts', 'Design 11'],
  ['cli.exit.ends', 'Ctrl-C ends with one line and 130; a reader of the output that has enough, with 0 and no line.', 'packages/cli/src/program/run.ts', 'Design 11'],
  ['cli.batch.partly', 'Of several things, those that fail are reported one by one, and the exit code is 9.', 'packages/cli/src/commands/changes.ts', 'Design 11'],
  ['cli.delete.confirmed', 'Deletion for good happens after its key was typed, or with `--yes`; where no person can be asked, it is refused.', 'packages/cli/src/commands/ask.ts', 'Design 11'],
  ['cli.settings.order', 'A flag takes precedence over the environment, that over the file `.wts`, that over the profile; the file names no server.', 'packages/cli/src/session/settings.ts', 'Design 11'],
  ['cli.settings.kept', 'Of two programs that change the settings at the same time, as two logins, neither undoes the change of the other.', 'packages/cli/src/session/config-lock.ts', 'Design 11'],
  ['cli.credential.origin', 'A credential is printed nowhere, and no redirect is followed with it.', 'packages/cli/src/session/fetch.ts', 'Design 11'],
  ['cli.watch.once', '`wts watch` prints each change once, also when it is started again with its cursor.', 'packages/cli/src/commands/watch.ts', 'Design 11'],
  ['cli.names.task', 'A task is named by its key, number, id, beginning of its id, address or title; what may mean several is refused.', 'packages/cli/src/commands/find-task.ts', 'Design 11'],
  ['cli.complete.silent', 'Completion knows commands, options, keys and names, waits at most 300 ms for them, and never prints an error.', 'packages/cli/src/program/completion.ts', 'Design 11'],
];
