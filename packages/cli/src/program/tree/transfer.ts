import type { CommandSpec, OptionSpec } from '../spec.ts';

const PROGRESS: OptionSpec = {
  flags: '--progress-jsonl',
  about: 'Print the progress as one JSON record a second, to stderr.',
};

export const EXPORT: CommandSpec = {
  name: 'export',
  summary: 'Write a workspace to a folder of NDJSON files',
  about:
    'All records are as they were at one position of the log, whatever changes meanwhile; archived ones are included. The same folder takes a later export of the same workspace. Private projects that you are not in are left out.',
  examples: [
    { command: 'wts export acme --to acme-export', prints: 'Records  1 workspace, 12 projects, 3,480 tasks' },
    { command: 'wts export --verify acme-export' },
    { command: "jq -r 'select(.completedAt == null) | .title' acme-export/Task.ndjson" },
  ],
  args: [{ form: '[workspace]', about: 'Its name, key or id. Default: the chosen one.', completes: 'workspace' }],
  options: [
    { flags: '--to <folder>', about: 'The folder, which is created.' },
    {
      flags: '--verify <folder>',
      about: 'Check an export: its hashes, its counts, and that nothing it refers to is missing.',
    },
    PROGRESS,
  ],
  fields: [
    'folder',
    'workspace',
    'server',
    'position',
    'epoch',
    'files',
    'people',
    'notIncluded',
    'exportedAt',
    'exportedBy',
  ],
  load: async () => (await import('../../commands/export.ts')).exportTo,
};

export const IMPORT: CommandSpec = {
  name: 'import',
  summary: 'Create the records of an export in a workspace',
  about:
    'Repeat the same command after any interruption: it goes on where it stopped, and nothing is created twice. At the end the records in the target are compared with the export. Exit code 9: some were refused.',
  examples: [
    { command: 'wts import acme-export --new "Acme" --dry-run' },
    { command: 'wts import acme-export --new "Acme" --key acme --keep-ids' },
    { command: 'wts import acme-export --into staging --people people.json' },
  ],
  args: [{ form: '<folder>', about: 'A folder with an export.' }],
  options: [
    { flags: '--into <workspace>', about: 'Into this workspace.', completes: 'workspace' },
    { flags: '--new <name>', about: 'Into a new workspace with this name.' },
    { flags: '--key <key>', about: 'The key of the new workspace. Default: from its name.' },
    {
      flags: '--people <file>',
      about:
        'JSON such as {"ana@example.com": "ana@example.org", "bo@example.com": null}: who is who, null for no person. Others are those with the same address, else you.',
    },
    { flags: '--keep-ids', about: 'Records keep their ids. Only into another installation, where no ids are taken.' },
    {
      flags: '--since <folder>',
      about: 'Only what changed since this earlier export of the same workspace, which was imported there.',
    },
    {
      flags: '--settings',
      about: 'Also take over its time zone, logo and days in the Trash; a new workspace always does.',
    },
    {
      flags: '--keep-numbers',
      about: 'Tasks keep their numbers. Only into a workspace that never had a task; a new one always does it.',
    },
    { flags: '--dry-run', about: 'Only show what would be created, and as whom.' },
    { flags: '--checkpoint <file>', about: 'Where the checkpoint is. Default: in the folder of the export.' },
    PROGRESS,
  ],
  fields: ['dryRun', 'target', 'people', 'notes', 'notIncluded', 'planned', 'comparison', 'refusedPath', 'setByServer'],
  load: async () => (await import('../../commands/import.ts')).importFrom,
};
