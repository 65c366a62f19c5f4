import { EXITS } from '../fault.ts';
import { rows, wrapped } from './wrap.ts';

/** What `wts help <topic>` explains, beside the commands. */
export interface Topic {
  readonly name: string;
  readonly summary: string;
  readonly text: (columns: number) => string;
}

const ENVIRONMENT: readonly (readonly [name: string, about: string])[] = [
  ['WTS_TOKEN', 'The API key to use. It takes precedence over what wts login stored.'],
  ['WTS_URL', 'The address of the API, such as https://api.example.com.'],
  ['WTS_AUTH_URL', 'The address at which people sign in, where a profile does not have it.'],
  ['WTS_PROFILE', 'The profile of commands that name none.'],
  ['WTS_WORKSPACE', 'The workspace of commands that name none.'],
  ['WTS_CREDENTIAL_STORE', 'Where wts login stores the key: keyring (default) or file.'],
  ['BROWSER', 'The program that opens the page of wts login.'],
  ['WTS_CONFIG_DIR', 'The folder of the settings. Default: $XDG_CONFIG_HOME/wts, else ~/.config/wts.'],
  ['WTS_PAGER, PAGER', 'The pager for long output. Default: less -FRX; empty or cat for none.'],
  ['WTS_EDITOR, VISUAL, EDITOR', 'The editor for long texts. Default: vi.'],
  ['NO_COLOR, CLICOLOR=0, TERM=dumb', 'No colors.'],
  ['CLICOLOR_FORCE, FORCE_COLOR', 'Colors also where the output is no terminal.'],
  ['FORCE_HYPERLINK', '1 shows addresses as links also in a terminal that is not known to have them; 0 never.'],
  ['WTS_ACCESSIBLE', 'As --accessible.'],
  ['WTS_FORCE_TTY', 'Output as at a terminal, also in a pipe; a number is its columns.'],
  ['WTS_NO_UPDATE_NOTIFIER', 'Do not say that the service has another version; CI does the same.'],
  ['XDG_CACHE_HOME', 'Where names for completion are kept. Default: ~/.cache.'],
  ['WTS_DEBUG', '1 prints requests, without secrets, and where a fault happened.'],
  ['NODE_EXTRA_CA_CERTS', 'A file of authorities whose certificates are trusted, for an installation with its own.'],
];

const PRECEDENCE =
  'A flag takes precedence over the environment, the environment over the file .wts of the folder (or of one above it), and this file ' +
  'over the profile. wts sends nothing to any other place than the service: there is no telemetry.';
const TABLES =
  'At a terminal, lists are tables that fit its width, with relative times. In a pipe they are lines of full values separated by tabs, ' +
  'with ISO times and without a header or colors.';

export const TOPICS: readonly Topic[] = [
  {
    name: 'environment',
    summary: 'The environment variables that wts reads',
    text: (columns) => `${rows(ENVIRONMENT, columns)}

${wrapped(PRECEDENCE, 0, columns)}
`,
  },
  {
    name: 'exit-codes',
    summary: 'What each exit code means',
    text: (columns) => {
      const all = Object.values(EXITS).map(([code, meaning]) => [String(code).padStart(3), meaning] as const);
      return `${rows(all, columns)}\n`;
    },
  },
  {
    name: 'formatting',
    summary: 'Tables, JSON, scripts',
    text: (columns) => `${wrapped(TABLES, 0, columns)}

  --json            everything that the command knows of each record, as the API has it
  --json id,title   only these fields; the help of each command names them
  --ndjson          one record a line, as soon as it is there
  --quiet           ids only

Lists, and commands that take several things, print an array; the others print one object.

With --json, errors are JSON too, on stderr: {"error": {"code", "message", "hint", "requestId"}}.
jq does the rest:

  $ wts task list --json number,title --project website | jq -r '.[] | "\\(.number) \\(.title)"'
  $ wts task list --assignee me -q | xargs wts task edit --due friday

Control characters in texts of people are shown as marks, and escaped in JSON.
`,
  },
];
