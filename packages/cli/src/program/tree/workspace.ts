import type { ArgSpec, CommandSpec } from '../spec.ts';
import { DRY_RUN, LIMIT } from './options.ts';
import { verbsOf } from './verbs.ts';

const FIELDS = ['id', 'name', 'urlKey', 'logoUrl', 'role', 'createdAt', 'updatedAt', 'archivedAt'];
const INVITATION_FIELDS = ['id', 'workspaceId', 'email', 'role', 'createdBy', 'createdAt', 'expiresAt', 'code'];
const WORKSPACE: ArgSpec = { form: '<workspace>', about: 'Its key, name or id.', completes: 'workspace' };

const workspaces = () => import('../../commands/workspace.ts');

export const WORKSPACES: CommandSpec = {
  name: 'workspace',
  summary: 'Work with workspaces, their members and invitations',
  commands: [
    ...verbsOf({ fields: FIELDS }, workspaces, {
      list: {
        summary: 'List your workspaces',
        examples: [{ command: 'wts workspace list' }],
      },
      use: {
        summary: 'Choose the workspace of commands that name none',
        about: 'Kept in the profile; with --here, or without a profile, in the file .wts of this folder.',
        args: [WORKSPACE],
        options: [{ flags: '--here', about: 'For this folder and those below it.' }],
        examples: [
          {
            command: 'wts workspace use acme',
            prints: 'Commands that name no workspace use Acme (acme) from now on: profile api.example.com',
          },
        ],
        fields: ['id', 'name', 'urlKey', 'role'],
      },
      create: {
        summary: 'Create a workspace',
        args: [{ form: '<name...>', about: 'The name. Its words need no quotes.' }],
        options: [
          {
            flags: '--key <key>',
            about: 'Its short name in addresses and in keys of tasks. It cannot be changed. Default: made of the name.',
          },
        ],
        examples: [{ command: 'wts workspace create Acme', prints: 'Created Acme (acme)' }],
      },
      members: {
        summary: 'List the members, change a role, or remove one',
        options: [
          { flags: '--role <name=role>', about: 'Give a member a role: owner, admin, member or guest.' },
          { flags: '--remove <name>', about: 'Remove a member.', completes: 'person' },
        ],
        examples: [{ command: 'wts workspace members --role ana=admin' }],
        fields: ['userId', 'name', 'email', 'avatarUrl', 'role', 'joinedAt'],
      },
    }),
    ...verbsOf({ fields: INVITATION_FIELDS }, () => import('../../commands/invitation.ts'), {
      invite: {
        summary: 'Invite people by their e-mail addresses, or every person with a code',
        about: 'The JSON of several addresses is a list.',
        args: [{ form: '[address...]', about: 'Only this e-mail address can use the code, once.' }],
        options: [
          { flags: '--role <role>', about: 'Default: member.', choices: ['admin', 'member', 'guest'] },
          { flags: '--days <number>', about: 'Days until it ends. Default: 7.' },
          { flags: '--list', about: 'List the open invitations instead.' },
          { flags: '--revoke <id>', about: 'End an invitation instead.' },
        ],
        examples: [
          { command: 'wts workspace invite ana@example.com --role admin' },
          { command: 'wts workspace invite ben@example.com cleo@example.com' },
        ],
      },
    }),
    ...verbsOf({ fields: FIELDS }, workspaces, {
      join: {
        summary: 'Join a workspace with the code of an invitation',
        args: [{ form: '<code>', about: 'The code.' }],
        examples: [{ command: 'wts workspace join cKw6ygjm_vD6OoM5I9ZTCleWOZ7djCZ5' }],
      },
      leave: {
        summary: 'Leave a workspace',
        args: [WORKSPACE],
        examples: [{ command: 'wts workspace leave acme' }],
      },
      remove: {
        summary: 'Delete a workspace of yours',
        about:
          'For 7 days its members can read it, and wts workspace restore brings it back. Then it is deleted for good.',
        args: [WORKSPACE],
        options: [DRY_RUN],
        examples: [{ command: 'wts workspace delete acme --dry-run' }],
      },
      restore: {
        summary: 'Restore a deleted workspace',
        args: [{ form: '<workspace>', about: 'Its key or its id.' }],
        examples: [{ command: 'wts workspace restore acme' }],
      },
    }),
  ],
};

export const SEARCH: CommandSpec = {
  name: 'search',
  summary: 'Find tasks, projects, comments and people by words',
  args: [{ form: '<words...>', about: 'Words, beginnings of words, or words with a slip.' }],
  options: [
    {
      flags: '--type <kind>',
      about: 'Only these; repeat it for several.',
      choices: ['task', 'project', 'comment', 'label', 'team', 'user'],
      isRepeated: true,
    },
    { flags: '--archived', about: 'Also what is archived or in the Trash.' },
    LIMIT,
  ],
  examples: [
    {
      command: 'wts search offer for globex',
      prints: 'KIND     KEY      TEXT\ntask     ACME-7   Send the offer to Globex',
    },
  ],
  fields: ['score', 'record'],
  load: async () => (await import('../../commands/search.ts')).search,
};

export const HISTORY: CommandSpec = {
  name: 'history',
  summary: 'Show what happened to a task, or to any record by its id',
  args: [{ form: '<task>', about: 'A task, or the id of any record, also of a deleted one.', completes: 'task' }],
  options: [LIMIT],
  examples: [
    {
      command: 'wts history ACME-12',
      prints: 'POSITION  WHEN       WHO  WHAT     FIELDS\n     812  2 hours ago  Ana  changed  deadlineAt: 2026-12-04',
    },
  ],
  fields: [
    'syncId',
    'action',
    'modelName',
    'modelId',
    'data',
    'groupId',
    'actor',
    'clientId',
    'clientTxId',
    'createdAt',
  ],
  load: async () => (await import('../../commands/history.ts')).history,
};

export const WATCH: CommandSpec = {
  name: 'watch',
  summary: 'Print changes as they happen',
  about:
    'It connects again by itself, and prints each change once. Without --workspace, it is the chosen workspace; a position is the number of an entry in the log.',
  options: [
    { flags: '--since <position>', about: 'Begin after this position; 0 is the whole log. Default: now.' },
    { flags: '--cursor <file>', about: 'Keep the position in this file, and begin after it the next time.' },
    { flags: '--model <name>', about: 'Only records of this kind; repeat it for several.', isRepeated: true },
    {
      flags: '--filter <name=value>',
      about: 'Only entries with this value, such as action=INSERT or assigneeId=…',
      isRepeated: true,
    },
  ],
  examples: [
    { command: 'wts watch', prints: '14:05:12  ACME-12 Write the report  changed  deadlineAt: 2026-12-04' },
    { command: 'wts watch --ndjson --model Task --filter action=INSERT | jq -r .data.title' },
  ],
  fields: ['syncId', 'modelName', 'modelId', 'action', 'data', 'groupId', 'clientTxId', 'clientId', 'createdAt'],
  load: async () => (await import('../../commands/watch.ts')).watch,
};
